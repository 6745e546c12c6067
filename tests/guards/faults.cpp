// The faults, one function each: what happens, and what must not come of it.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/guards/trial.h"
#include "tests/shop/shop.h"
#include "tests/support/broker.h"

namespace reseq::test {

namespace {

using std::chrono::milliseconds;
using Environment = std::vector<std::string>;

constexpr milliseconds kTrialPatience{90'000};
// The shortest session that brokers allow: it is what a trial spends its time with.
const std::string kToml = "session.timeout.ms = 6000\n";
const std::string kTarget = "[[target]]\nname = \"search\"\n";

Environment with(Environment environment, const std::string& more) {
  environment.push_back(more);
  return environment;
}

void require(bool happened, const std::string& what) {
  if (!happened) throw std::runtime_error("did not happen: " + what);
}

void wait_for(const std::string& what, const std::function<bool()>& condition) {
  require(wait_until(kTrialPatience, condition), what);
}

void wait_for_log(const Shop& shop, int instance, const std::string& text) {
  wait_for("\"" + text + "\" in the log of instance " + std::to_string(instance),
           [&] { return shop.log(instance).find(text) != std::string::npos; });
}

// Keys that a topic of one partition still holds.
std::vector<std::string> rows_of(const kafka::Connection& connection, const std::string& topic) {
  std::vector<std::string> keys;
  read_all(connection, topic, [&](const kafka::PlainRecord& record) { keys.emplace_back(record.key.value_or("")); });
  return keys;
}

// Until the first process has committed what it held, or says that it could not.
void resume_and_wait(Shop& shop, const std::function<bool()>& committed) {
  const std::size_t before = shop.log(1).size();
  shop.resume(1);
  wait_for("the first process ends its transaction",
           [&] { return committed() || shop.log(1).find(" transaction=", before) != std::string::npos; });
}

std::size_t count(const std::vector<std::string>& lines, const std::string& line) {
  return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), line));
}

std::string if_doubled(const std::vector<std::string>& lines, const std::string& line) {
  return count(lines, line) > 1 ? "twice: " + line : "";
}

// A process is stopped in front of a transaction that moves no input, another one takes its partition over, then the
// first goes on.
std::string idle_zombie(const Environment& environment) {
  Shop shop(kToml + "registration_timeout_ms = 1000\n" + kTarget);
  shop.run_program("resequencer-faulty");
  // Birth, the request, then the timer.
  shop.start(1, with(environment, "RESEQ_FAILPOINT=transaction.begin:3:stop"));
  shop.request("book", "1");
  require(shop.wait_for_stop(1), "the first process stops in front of its timer");
  require(shop.work().size() == 1 && shop.events().empty(), "it stopped between the request and the timer");
  shop.start(2, environment);
  wait_for("the second process fires the timer", [&] { return shop.events().size() == 1; });
  resume_and_wait(shop, [&] { return shop.events().size() > 1; });
  return if_doubled(shop.events(), "book 1 overdue");
}

// A process is stopped in front of a transaction, loses its partition to another one, and that one dies as well. The
// group is empty when the first goes on, and nobody has taken its producer's place.
std::string zombie_of_an_empty_group(const Environment& environment) {
  Shop shop(kToml + kTarget);
  shop.run_program("resequencer-faulty");
  // Between begin and the offsets librdkafka hears that the group does not know its member any more.
  shop.start(1, with(environment, "RESEQ_FAILPOINT=transaction.begin:2:stop,transaction.send_offsets:1:sleep"));
  wait_for_log(shop, 1, "takeover=born");
  shop.request("book", "1");
  require(shop.wait_for_stop(1), "the first process stops in front of its transaction");
  shop.start(2, environment);
  wait_for("the second process decides the request", [&] { return shop.work().size() == 1; });
  shop.kill(2);
  const auto admin = kafka::Admin::open(shop.application().connection());
  wait_for("the group is empty", [&] {
    const auto members = admin.value()->members(shop.application().application_id(), Milliseconds(5'000));
    return members && members.value() == 0;
  });
  resume_and_wait(shop, [&] { return shop.work().size() > 1; });
  return if_doubled(shop.work(), "book 1 -> search");
}

// An open transaction of somebody else keeps the last stable offset of the changelog back while a timer fires behind it
// and its process dies.
std::string open_transaction_in_the_changelog(const Environment& environment) {
  Shop shop(kToml + "registration_timeout_ms = 10000\n" + kTarget);
  shop.run_program("resequencer-faulty");
  shop.start(1, environment);
  shop.request("book", "1");
  shop.settle();
  kafka::ClusterSettings settings;
  settings.connection = shop.application().connection();
  settings.topics = {shop.application().topic("changelog")};
  settings.group_id = settings.transactional_id = shop.application().application_id() + ".stranger";
  settings.transaction_timeout = Milliseconds(120'000);
  const auto cluster = kafka::open_cluster(settings);
  const auto stranger = cluster.value()->producer();
  kafka::Producer& producer = *stranger.value();
  kafka::OutgoingRecord record;
  record.partition = Partition(0);
  record.key = "nobody's";
  require(producer.init(Milliseconds(20'000)) && producer.begin() && producer.produce(record) &&
              producer.flush(Milliseconds(20'000)) && shop.events().empty(),
          "a transaction is open before the timer fires");
  wait_for("the timer fires", [&] { return shop.events().size() == 1; });
  shop.kill(1);
  shop.start(2, environment);
  wait_for_log(shop, 2, "takeover=restore");
  // One that waits for the transaction has time to show it; one that does not is ready at once.
  (void)wait_until(milliseconds(5'000), [&] { return shop.log(2).find("takeover=ready") != std::string::npos; });
  require(static_cast<bool>(producer.abort(Milliseconds(20'000))), "the transaction is aborted");
  wait_for_log(shop, 2, "takeover=ready");
  shop.request("toy", "1");  // decided after everything that waits
  shop.settle();
  wait_for("the timer of a later document fires", [&] { return count(shop.events(), "toy 1 overdue") == 1; });
  return if_doubled(shop.events(), "book 1 overdue");
}

// A copy of the state is set aside while another process forgets a document, and Kafka forgets that it did.
std::string copy_older_than_the_tombstones(const Environment& environment) {
  const std::string changelog = unique_name("compacted");
  const kafka::TopicSpec topic{changelog,
                               1,
                               1,
                               {{"cleanup.policy", "compact"},
                                {"segment.ms", "500"},
                                {"min.cleanable.dirty.ratio", "0.01"},
                                {"delete.retention.ms", "1000"}}};
  kafka::Connection connection;
  connection.bootstrap_servers = Broker::shared().bootstrap_servers();
  const auto admin = kafka::Admin::open(connection);
  require(static_cast<bool>(admin.value()->create_topics({&topic, 1}, Milliseconds(20'000))), "the changelog is made");
  Shop shop(kToml + "topic.changelog = \"" + changelog +
            "\"\nmax_clock_drift_ms = 100\nwatermark_retention_ms = 3600000\n" + kTarget);
  shop.run_program("resequencer-faulty");
  shop.start(
      1, with(with(environment, "LD_PRELOAD=" + program("libreseq_clock_shift.so")), "RESEQ_TEST_CLOCK_SHIFT_S=-7200"));
  shop.request("book", "1");
  shop.result("book", "1", "search");
  shop.settle();
  require(shop.stop(1) == 0, "the first process leaves a clean copy");
  shop.start(2, environment);
  wait_for("the second process forgets the document", [&] {
    const auto& rows = shop.records_of_topic(changelog);
    return std::any_of(rows.begin(), rows.end(), [](const Seen& row) { return !row.payload; });
  });
  // Segments are closed, and cleaned, by what comes behind them.
  wait_for("the tombstone is compacted away", [&] {
    shop.request("toy", std::to_string(shop.work().size() + 1));
    shop.settle();
    const std::vector<std::string> left = rows_of(connection, changelog);
    return std::none_of(left.begin(), left.end(),
                        [](const std::string& key) { return key.find("book") != std::string::npos; });
  });
  require(shop.stop(2) == 0, "the second process stops");
  shop.start(1, environment);
  wait_for_log(shop, 1, "takeover=ready");
  const std::string log = shop.log(1);
  return log.find("reason=digest") != std::string::npos ? "a document came back, only the digest saw it" : "";
}

// A host whose clock is ahead dies; the host that takes over has the right time.
std::string slow_host_takes_over(const Environment& environment) {
  Shop shop(kToml + kTarget);
  shop.run_program("resequencer-faulty");
  shop.start(
      1, with(with(environment, "LD_PRELOAD=" + program("libreseq_clock_shift.so")), "RESEQ_TEST_CLOCK_SHIFT_S=50"));
  shop.request("book", "1");
  shop.result("book", "1", "search");
  shop.settle();
  shop.kill(1);
  shop.start(2, environment);
  shop.request("book", "2");
  shop.result("book", "2", "search");
  shop.settle();
  const auto& outputs = shop.records("output.search");
  require(outputs.size() == 2, "two releases");
  const auto before = outputs[0].number("reseq-version");
  const auto after = outputs[1].number("reseq-version");
  return after > before ? "" : "version " + std::to_string(after) + " follows " + std::to_string(before);
}

// While nothing runs a topic is deleted and made anew, and gets more records than the old one had.
std::string input_made_anew(const Environment& environment) {
  Shop shop(kToml + kTarget);
  shop.run_program("resequencer-faulty");
  shop.start(1, environment);
  for (const char* id : {"book", "toy", "game"}) shop.request(id, "1");
  shop.settle();
  require(shop.stop(1) == 0, "the process stops");
  shop.make_anew("requests");
  constexpr std::size_t kNew = 5;
  for (std::size_t i = 0; i < kNew; ++i) shop.request("new-" + std::to_string(i), "1");
  shop.start(1, environment);
  const std::size_t before = 3;
  wait_for("the process judges the input", [&] {
    return shop.log(1).find("reason=input_replaced") != std::string::npos || shop.work().size() > before;
  });
  const std::size_t decided = shop.work().size() - before;
  (void)shop.stop(1);
  return decided == 0 ? "" : "decided " + std::to_string(decided) + " of " + std::to_string(kNew);
}

}  // namespace

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"IdleZombie", "offsets_in_every_transaction", idle_zombie},
      {"ZombieOfAnEmptyGroup", "group_metadata_of_assignment,membership_required", zombie_of_an_empty_group},
      {"OpenTransactionInTheChangelog", "high_watermark", open_transaction_in_the_changelog},
      {"CopyOlderThanTheTombstones", "tombstone_horizon", copy_older_than_the_tombstones},
      {"SlowHostTakesOver", "clock_restored", slow_host_takes_over},
      {"InputMadeAnew", "pinned_inputs", input_made_anew},
  };
  return kFaults;
}

}  // namespace reseq::test
