// What whoever is on call is told is true also where it is not simple: of deletes, of documents with very many events,
// of inputs that became dead letters, and of dead letters that are old.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <thread>

#include "codec/hash.h"
#include "kafka/librdkafka_cluster.h"
#include "tests/admin/office.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/support/good.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::hours kRetention{7 * 24};  // watermark_retention_ms, its default
constexpr int kHot = 60;
const std::string kTime = "20[0-9-]+T[0-9:.]+Z";

class Told : public testing::Test {
 protected:
  static void SetUpTestSuite() { office_ = std::make_unique<Office>("events = \"all\"\n"); }
  static void TearDownTestSuite() { office_.reset(); }
  static Office& office() { return *office_; }

  static json letters_of(const std::string& id) {
    const Printed printed = office().run_alone({"dead-letter", "list", "--prefix", id, "-o", "json"});
    EXPECT_EQ(printed.code, 0) << printed.text;
    const std::size_t begin = printed.text.find('{');  // behind what tells of the progress
    return json::parse(begin == std::string::npos ? printed.text : printed.text.substr(begin));
  }
  // Of the newest one.
  static std::string place_of(const std::string& id) {
    const json letters = letters_of(id)["dead_letters"];
    EXPECT_FALSE(letters.empty()) << id;
    return letters.empty() ? "0:0" : letters.back()["place"].get<std::string>();
  }
  // A request for a target that is not configured, written so long ago.
  // It can be read, and is another edit under the number of the newest one.
  static void unusable_request(const std::string& id, std::chrono::seconds ago) {
    office().request(id, 1);
    const auto written = std::chrono::system_clock::now().time_since_epoch() - ago;
    office().send("requests", id, {{"reseq-seq", "1"}, {"reseq-epoch", "0"}, {"reseq-op", "delete"}},
                  UnixMs(std::chrono::duration_cast<std::chrono::milliseconds>(written).count()));
    office().settle();
  }

  static inline std::unique_ptr<Office> office_;
};

constexpr int kRestarted = 600;  // each instance has more than 50 of them

// It takes minutes: where old changes are sent again, their newest ones may follow.
class LongTold : public Told {
 protected:
  static void all_request(std::uint64_t sequence) {
    for (int i = 0; i < kRestarted; ++i) office().request("restarted-" + std::to_string(i), sequence);
    office().settle();
  }
  // Of all instances.
  static std::int64_t counted() {
    std::int64_t count = 0;
    const json stats = office().run_json({"stats"});
    for (const json& part : stats["partitions"]) count += part["documents"].value("only_older_requests", 0);
    return count;
  }
  static double exported() {
    double count = 0;
    for (int instance = 1; instance <= Office::kInstances; ++instance) {
      std::istringstream lines(office().get(instance, "/metrics").body);
      for (std::string line; std::getline(lines, line);)
        if (line.starts_with("reseq_documents_only_older_requests{")) count += std::stod(line.substr(line.rfind(' ')));
    }
    return count;
  }
  static bool each_logs(const std::string& line) {
    return wait_until(kPatience, [&] {
      bool all = true;
      for (int instance = 1; instance <= Office::kInstances; ++instance)
        all = all && office().fleet().process(instance).tail(100'000).find(line) != std::string::npos;
      return all;
    });
  }
};

TEST_F(Told, WhichRequestsCameBehindTheNewestOne) {
  office().request("restarted", 100);
  office().settle();
  EXPECT_THAT(office().run({"why", "restarted"}).text, Not(HasSubstr("older")));
  for (const std::uint64_t sequence : {1U, 2U}) office().request("restarted", sequence);
  office().settle();
  EXPECT_THAT(
      office().run({"why", "restarted"}).text,
      HasSubstr("behind its newest request came 2 older ones, the last of them 2: a change that came late or was sent "
                "again is dropped as it should be; if the producer's counter has started again, it has to raise "
                "reseq-epoch, or `resequencer reset` does\n"));
}

// Nothing of such a producer gets through, and no target lacks anything that it was ever asked for.
TEST_F(LongTold, ThatAProducersCounterStartedAgain) {
  all_request(100);
  all_request(1);
  all_request(2);
  EXPECT_EQ(counted(), 0);
  ASSERT_TRUE(wait_until(std::chrono::minutes(3), [] { return counted() == kRestarted; })) << counted();
  EXPECT_TRUE(wait_until(kPatience, [] { return exported() == kRestarted; })) << exported();
  EXPECT_TRUE(each_logs("alarm=older_requests state=raised worker=0 documents=")) << office().fleet().process(1).tail();
  all_request(100);  // sent again
  EXPECT_EQ(counted(), 0);
  EXPECT_TRUE(each_logs("alarm=older_requests state=cleared worker=0 documents=0\n"));
}

// A delete is a release like any other, and whoever looks for a document that is missing has to read it.
TEST_F(Told, ThatADocumentWasDeletedByWhatAndWhen) {
  office().request("deleted", 1);
  office().result("deleted", 1, "search");
  office().settle();
  office().send("requests", "deleted", {{"reseq-seq", "2"}, {"reseq-op", "delete"}});
  office().send(
      "commands", "deleted",
      {{"reseq-seq", "2"}, {"reseq-op", "delete"}, {"reseq-command", "sequence"}, {"reseq-target", "search"}});
  office().settle();
  const std::string why = office().run({"why", "deleted"}).text;
  EXPECT_THAT(why, ContainsRegex("search deleted by 2 at " + kTime + "\n"));
  EXPECT_THAT(why, HasSubstr("for the result of 2, which was requested as a delete, requested at offset "));
  EXPECT_THAT(office().run({"describe", "deleted"}).text,
              ContainsRegex("deleted          search by 2 at " + kTime + "\n"));
  const json document = office().run_json({"describe", "deleted"})["partitions"][0]["documents"][0];
  ASSERT_EQ(document.value("deleted", json::array()).size(), 1U);
  EXPECT_EQ(document["deleted"][0]["target"], "search");
  EXPECT_EQ(document["deleted"][0]["order"]["seq"], "2");
  EXPECT_TRUE(document["deleted"][0]["at"].is_string());

  office().request("deleted", 3);
  office().result("deleted", 3, "search");
  office().settle();
  EXPECT_THAT(office().run({"why", "deleted"}).text, HasSubstr("search got the release of 3, the newest for it\n"));
  EXPECT_THAT(office().run({"describe", "deleted"}).text, Not(HasSubstr("deleted  ")));
}

// Each time it is sent again it may become a letter anew, and what was known when it came first may be forgotten.
TEST_F(Told, ThatALetterIsAsOldAsItsFirst) {
  constexpr std::chrono::seconds kYoungFor{40};  // what comes before it is old, on a busy machine
  const auto old = SteadyClock::now() + kYoungFor;
  unusable_request("aged", kRetention - kYoungFor);
  Printed printed = office().run_alone({"dead-letter", "redrive", place_of("aged")});
  EXPECT_EQ(printed.code, 0) << printed.text;
  office().settle();
  EXPECT_EQ(letters_of("aged")["dead_letters"].size(), 2U);
  std::this_thread::sleep_until(old);
  printed = office().run_alone({"dead-letter", "redrive", place_of("aged")});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("a request older than watermark_retention_ms")) << "an old request could win";
  printed = office().run_alone({"dead-letter", "redrive", place_of("aged"), "--old"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  office().settle();
  EXPECT_EQ(letters_of("aged")["dead_letters"].size(), 3U);
  EXPECT_EQ(office().run_alone({"dead-letter", "redrive", place_of("aged")}).code, 78)
      << "it has become young by --old";
}

// What is newer may have completed between its writing and its letter, and be forgotten.
TEST_F(Told, ThatALetterIsAsOldAsItsRequest) {
  unusable_request("backlog", kRetention + std::chrono::hours(1));
  const std::string place = place_of("backlog");
  Printed printed = office().run_alone({"dead-letter", "redrive", place});
  EXPECT_EQ(printed.code, 78) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("a request older than watermark_retention_ms"));
  printed = office().run_alone({"dead-letter", "redrive", "--all", "--prefix", "backlog"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.text, HasSubstr("left out: " + place));
  EXPECT_EQ(office().run_alone({"dead-letter", "redrive", "--all", "--prefix", "backlog", "--old"}).code, 0);
  office().settle();
  EXPECT_EQ(letters_of("backlog")["dead_letters"].size(), 2U);
}

// It makes an order known as a request does, and is written by a worker that may have stood still for as long.
TEST_F(Told, ThatALetterIsAsOldAsItsRegister) {
  const std::string id = "late-register";
  const auto written = std::chrono::system_clock::now().time_since_epoch() - kRetention - std::chrono::hours(1);
  const UnixMs at(std::chrono::duration_cast<std::chrono::milliseconds>(written).count());
  const Partition right = codec::partition_of(id, Partitioner::kMurmur2, Office::kPartitions);
  const Partition wrong((right.value() + 1) % Office::kPartitions);
  office().send("commands", id, {{"reseq-command", "register"}, {"reseq-seq", "5"}, {"reseq-target", "search"}}, at,
                wrong);
  office().settle();
  Printed printed = office().run_alone({"dead-letter", "redrive", place_of(id)});
  EXPECT_EQ(printed.code, 78) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("a REGISTER older than watermark_retention_ms")) << "an old order could win";
  EXPECT_EQ(office().run_alone({"dead-letter", "redrive", place_of(id), "--old"}).code, 0);
  office().settle();
  EXPECT_THAT(office().run({"describe", id}).text, HasSubstr("search"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

// The newest stands first, and what was dropped for one reason again and again is one line.
TEST_F(Told, OfADocumentWithVeryManyEventsWhatCanBeRead) {
  office().request("hot", 100);
  office().settle();
  for (int i = 1; i <= kHot; ++i) office().result("hot", static_cast<std::uint64_t>(i), "search");
  office().settle();
  std::vector<std::string> lines = lines_of(office().run({"why", "hot"}).text);
  ASSERT_EQ(lines.size(), 6U) << "two targets, what came of one, a header, a run and the request";
  EXPECT_EQ(lines[2],
            "search waits, but results of other requests came for it and were dropped: 60, the last of them for 60");
  EXPECT_THAT(lines[4], ContainsRegex("^" + kTime + "  dropped, 60 times +superseded +60 +100 +search .*commands " +
                                      "[0-9]@[0-9]+, the first at " + kTime + "$"));
  EXPECT_THAT(lines[5], ContainsRegex("^" + kTime + "  forwarded "));

  constexpr int kPairs = 15;
  for (int i = 0; i < kPairs; ++i) {
    office().result("hot", 50, "search");
    office().result("hot", 999, "search");  // a dead letter
  }
  office().settle();
  const Printed printed = office().run({"why", "hot"});
  lines = lines_of(printed.text);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("20"); }),
            20)
      << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("there are older events: --last N or --all shows more"));
  json told = office().run_json({"why", "hot", "--last", "3"});
  ASSERT_EQ(told["events"].size(), 3U);
  EXPECT_EQ(told["events"][0]["event"]["outcome"], "dead_lettered");
  EXPECT_EQ(told["more_events"], true);
  EXPECT_EQ(told["more_dead_letters"], kPairs - 3);
  told = office().run_json({"why", "hot", "--all"});
  std::int64_t inputs = 0;
  for (const json& event : told["events"]) inputs += event.value("count", 1);
  EXPECT_EQ(inputs, 1 + kHot + 2 * kPairs);
  // The first of the pairs goes on with the run, and behind it is the request.
  EXPECT_EQ(told["events"].size(), 2U * kPairs + 1);
  EXPECT_EQ(told["more_events"], false);
  EXPECT_FALSE(told.contains("unread_events"));
}

// It is not that nobody has requested it.
TEST_F(Told, ThatARequestBecameADeadLetter) {
  office().send("requests", "lettered", {});
  office().settle();
  const Printed printed = office().run({"why", "lettered"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.text, HasSubstr("no target knows it: none of its requests was accepted"));
  EXPECT_THAT(printed.text, ContainsRegex("dead letter [0-9]:[0-9]+ of " + kTime +
                                          ": missing_sequence, from .*requests" + "\\[[0-9]\\]@[0-9]+\n"));
  const json letters = office().run_json({"why", "lettered"})["dead_letters"];
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(letters[0]["reason"], "missing_sequence");
  EXPECT_THAT(office().run({"describe", "lettered"}).text,
              HasSubstr("its requests are dead letters, which `why` names"));
}

TEST_F(Told, HowManyDeadLettersThereAreForWhichReason) {
  for (int i = 0; i < 3; ++i) office().send("requests", "counted", {});
  office().result("counted", 3, "search");
  office().settle();
  const Printed printed = office().run_alone({"dead-letter", "list", "--prefix", "counted", "--max", "1"});
  EXPECT_THAT(printed.text, ContainsRegex("\nREASON +LETTERS +OLDEST +NEWEST *\n"));
  EXPECT_THAT(printed.text, ContainsRegex("\nmissing_sequence +3 +" + kTime + " +" + kTime));
  EXPECT_THAT(printed.text, ContainsRegex("\nunregistered +1 +" + kTime)) << "also of those that --max leaves out";
  const json reasons = letters_of("counted")["reasons"];
  ASSERT_EQ(reasons.size(), 2U);
  std::map<std::string, int> counts;
  for (const json& one : reasons) counts[one["reason"]] = one["letters"];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"missing_sequence", 3}, {"unregistered", 1}}));
}

TEST_F(Told, WhereAMisroutedRecordBelongsAndWhatHelps) {
  std::string id;
  Partition wrong;
  Partition right;
  for (int i = 0; right == wrong; ++i) {
    id = "astray-" + std::to_string(i);
    wrong = codec::partition_of(id, Partitioner::kCrc32, Office::kPartitions);
    right = codec::partition_of(id, Partitioner::kMurmur2, Office::kPartitions);
  }
  office().send("requests", id, {{"reseq-seq", "1"}}, {}, wrong);
  office().settle();
  const std::string belongs = "belongs to partition " + std::to_string(right.value());
  const std::string fix = "it lay where crc32 puts it: the client that wrote it needs partitioner=murmur2_random";
  Printed printed = office().run_alone({"dead-letter", "list", "--prefix", id});
  EXPECT_THAT(printed.text, HasSubstr(", belongs to " + std::to_string(right.value())));
  EXPECT_THAT(printed.text, HasSubstr("misrouted: " + fix));
  EXPECT_THAT(office().run_alone({"dead-letter", "show", place_of(id)}).text, HasSubstr("belongs  to partition "));
  EXPECT_EQ(letters_of(id)["dead_letters"][0]["belongs_to"], right.value());
  printed = office().run({"why", id});
  EXPECT_THAT(printed.text, HasSubstr(belongs));
  EXPECT_THAT(printed.text, HasSubstr(fix));
  EXPECT_EQ(office().run_alone({"dead-letter", "redrive", place_of(id)}).code, 0);
  office().settle();
  EXPECT_EQ(office().run_json({"describe", id})["partitions"][0]["partition"], right.value());
}

// An offset is seen as committed a moment before what was written with it can be read.
TEST_F(Told, OfALetterWhoseTransactionEndsMeanwhile) {
  kafka::ClusterSettings settings;
  settings.connection = office().application().connection();
  settings.topics = {office().application().topic("dead-letter")};
  settings.group_id = settings.transactional_id = office().application().application_id() + ".slow";
  const auto cluster = good(kafka::open_cluster(settings));
  const auto producer = good(cluster->producer());
  constexpr Milliseconds kLimit{20'000};
  kafka::OutgoingRecord record;
  record.key = "in between";
  good(producer->init(kLimit));
  const auto write = [&] {
    good(producer->begin());
    good(producer->produce(record));
    good(producer->flush(kLimit));
  };
  write();
  const auto ends = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    good(producer->commit(kLimit));
  });
  EXPECT_EQ(letters_of("in between")["dead_letters"].size(), 1U);
  ends.wait();
  write();
  EXPECT_EQ(letters_of("in between")["dead_letters"].size(), 1U) << "one that goes on is not waited for";
  good(producer->abort(kLimit));
}

// Of documents that were deleted, too.
TEST_F(Told, InRepliesThatTheirSchemaDescribes) {
  const std::string file = office().path("replies");
  std::ofstream lines(file);
  bool deleted = false;
  for (const std::string& payload : office().payloads("admin.replies")) {
    lines << payload << "\n";
    deleted = deleted || payload.find("\"deleted\":[{") != std::string::npos;
  }
  lines.close();
  EXPECT_TRUE(deleted);
  Process validate({"/usr/bin/python3", source_path("tests/admin/validate.py"),
                    source_path("schemas/admin.replies.schema.json"), file},
                   office().path("validated"));
  EXPECT_EQ(validate.wait(30'000), 0) << validate.tail();
}

}  // namespace
}  // namespace reseq::test
