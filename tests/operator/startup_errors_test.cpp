// Every error that `check` and `run` may end with, by its real cause, in one line that names the fix.
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sysexits.h>
#include <thread>
#include <unistd.h>

#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/operator/secured_broker.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kNoBrokerLimitMs = 120'000;

class StartupErrors : public testing::Test {
 protected:
  // Both end with this code and a last line that names the fix.
  void expect_refused(int code, const std::string& fix) {
    const Ran checked = shop.run({"check"});
    EXPECT_EQ(checked.code, EX_CONFIG) << checked.text;
    EXPECT_THAT(checked.last_line, AllOf(StartsWith("error"), HasSubstr(fix)));
    const Ran ran = shop.run({"run"});
    EXPECT_EQ(ran.code, code) << ran.text;
    EXPECT_THAT(ran.last_line, AllOf(StartsWith("resequencer: "), HasSubstr(fix)));
  }

  void init() {
    const Ran ran = shop.run({"init"});
    ASSERT_EQ(ran.code, EX_OK) << ran.text;
  }

  // A state with one document that waits for `search` and `catalogue`.
  void leave_a_document_waiting() {
    shop.tables = "[[target]]\nname = \"search\"\n[[target]]\nname = \"catalogue\"\n";
    init();
    const auto process = shop.start_and_wait();
    shop.send("requests", "book", {{"reseq-seq", "1"}});
    ASSERT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] {
      const auto lag = kafka::Admin::open(shop.connection())
                           .value()
                           ->lag(shop.application_id(), shop.topic("requests"), Milliseconds(10'000));
      return lag && lag.value() == 0;
    }));
    process->signal(SIGTERM);
    ASSERT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
  }

  Operator shop{Broker::shared().bootstrap_servers()};
};

TEST_F(StartupErrors, NameTheMissingTopics) {
  expect_refused(EX_CONFIG, "`resequencer init` with this configuration creates the topics that are missing");
  const Ran checked = shop.run({"check"});
  EXPECT_THAT(checked.last_line, HasSubstr("topics do not exist: " + shop.topic("requests") + ", "));
  EXPECT_THAT(checked.last_line, HasSubstr(", " + shop.topic("output.search") + ": "));
}

TEST_F(StartupErrors, NameTheTopicWithAnotherNumberOfPartitions) {
  shop.create_topic("commands", 3);
  init();  // the others get as many
  shop.keys = "topic.changelog = \"" + shop.topic("other-changelog") + "\"\n";
  shop.create_topic("other-changelog", 2, {{"cleanup.policy", "compact"}});
  expect_refused(EX_CONFIG, "create " + shop.topic("other-changelog") + " again with 3");
  const Ran again = shop.run({"init"});
  EXPECT_EQ(again.code, EX_CONFIG);
  EXPECT_THAT(again.last_line, HasSubstr("they must be equal"));
}

TEST_F(StartupErrors, NameTheSettingsOfTheChangelog) {
  const std::string changelog = "topic.changelog = ";
  shop.create_topic("not-compacted", 4, {{"cleanup.policy", "delete"}});
  shop.create_topic("also-deleted", 4, {{"cleanup.policy", "compact,delete"}});
  shop.create_topic("forgetful", 4, {{"cleanup.policy", "compact"}, {"delete.retention.ms", "0"}});
  init();
  shop.keys = changelog + "\"" + shop.topic("not-compacted") + "\"\n";
  expect_refused(EX_CONFIG, "set cleanup.policy=compact (without delete)");
  shop.keys = changelog + "\"" + shop.topic("also-deleted") + "\"\n";
  expect_refused(EX_CONFIG, "set cleanup.policy=compact (without delete)");
  shop.keys = changelog + "\"" + shop.topic("forgetful") + "\"\n";
  expect_refused(EX_CONFIG, "set delete.retention.ms=604800000");
}

TEST_F(StartupErrors, NameAnInputThatIsCompacted) {
  shop.create_topic("commands", 4, {{"cleanup.policy", "compact"}});
  init();
  expect_refused(EX_CONFIG, "set cleanup.policy=delete");
}

TEST_F(StartupErrors, NameARetentionThatIsTooShort) {
  init();
  shop.keys = "watermark_retention_ms = 3600000\n";
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_CONFIG);
  EXPECT_THAT(checked.last_line, AllOf(StartsWith("error"), HasSubstr("set watermark_retention_ms = 604800000")));
  // Nothing is wrong until somebody reads old requests again: `run` says it and goes on.
  const auto process = shop.start_and_wait();
  EXPECT_THAT(shop.log(), HasSubstr("set watermark_retention_ms = 604800000"));
}

TEST_F(StartupErrors, NameTheProcessThatHoldsTheStateFolder) {
  init();
  const auto first = shop.start_and_wait();
  const std::string holder = "is in use by process " + std::to_string(first->pid());
  const Ran second = shop.run({"run"});
  EXPECT_EQ(second.code, EX_UNAVAILABLE) << second.text;
  EXPECT_THAT(second.last_line, AllOf(HasSubstr(holder), EndsWith("give this process an instance.id of its own")));
  const Ran checked = shop.run({"check"});  // the process that runs is this one: worth a word, no more
  EXPECT_EQ(checked.code, EX_OK);
  EXPECT_THAT(checked.last_line, AllOf(StartsWith("warning"), HasSubstr(holder)));
  EXPECT_TRUE(first->running()) << "was thrown out";
  first->signal(SIGTERM);
  EXPECT_EQ(first->wait(kStepLimitMs), EX_OK);
}

// Each of them has settled, and the fight before is over, when the next one comes; and there is work all the time, so
// that they meet as producers, too.
TEST_F(StartupErrors, NameTheInstanceIdThatTwoHostsShareAndTheOneThatCameLastGoesOn) {
  init();
  int sequence = 0;
  const auto work_while = [&](const std::function<bool()>& condition, std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (condition() && std::chrono::steady_clock::now() < until) {
      shop.send("requests", "document", {{"reseq-seq", std::to_string(++sequence)}});
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  };
  auto running = shop.start_and_wait();
  for (int host = 2; host <= 3; ++host) {
    // Settled after ten seconds; a fight is over after twenty, and the first one has none before it.
    work_while([] { return true; }, std::chrono::seconds(host == 2 ? 15 : 25));
    shop.state_dir = shop.path("host-" + std::to_string(host));
    auto last = shop.start();
    work_while([&] { return running->running() && last->running(); }, std::chrono::milliseconds(kStepLimitMs));
    ASSERT_FALSE(running->running()) << "host " << host << "\n" << shop.log();
    EXPECT_EQ(running->wait(kStepLimitMs), EX_CONFIG);
    EXPECT_THAT(shop.log(), AllOf(HasSubstr("resequencer: another process runs with application.id"),
                                  HasSubstr("give each process its own instance.id")));
    running = std::move(last);
  }
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait(kStepLimitMs), EX_OK) << running->tail();
}

TEST_F(StartupErrors, NameAStateFolderOfAnotherUserOrWithAnotherMode) {
  init();
  const std::string folder = shop.state_dir + "/" + shop.application_id() + "/1";
  ASSERT_EQ(std::system(("mkdir -p " + folder + " && chmod 777 " + folder).c_str()), 0);
  expect_refused(EX_CONFIG, "chmod go-w it");
  // As a volume of Kubernetes is: all may write it.
  const std::string mine = shop.state_dir;
  const std::string volume = shop.path("volume");
  ASSERT_EQ(std::system(("mkdir -p " + volume + " && chmod 777 " + volume).c_str()), 0);
  shop.state_dir = volume + "/state";
  expect_refused(EX_CONFIG, "`chmod o-w " + volume + "`, or set state.dir to another directory");
  shop.state_dir = mine;
  if (::geteuid() != 0) return;
  ASSERT_EQ(std::system(("chmod 700 " + folder + " && chown 12345 " + folder).c_str()), 0);
  expect_refused(EX_CONFIG, "belongs to user 12345, not to this one: chown it");
}

// A mount of our own, seen by nobody else, in which the program runs.
std::vector<std::string> on_a_disk(const std::string& options, const std::string& folder) {
  return {"unshare",
          "-rm",
          "sh",
          "-c",
          "mkdir -p " + folder + " && mount -t tmpfs -o " + options + " tmpfs " + folder + " && exec \"$@\"",
          "sh"};
}
bool mounts_are_possible() {
  return std::system("unshare -rm true 2>/dev/null") == 0;
}

TEST_F(StartupErrors, NameADiskThatIsFull) {
  if (!mounts_are_possible()) GTEST_SKIP() << "no mount namespaces here: a disk of its own cannot be made";
  init();
  shop.in_front = on_a_disk("size=32k", shop.path("small"));
  shop.state_dir = shop.path("small") + "/state";
  expect_refused(EX_UNAVAILABLE, "the disk is full, free some of it or set state.dir to another one");
}

TEST_F(StartupErrors, NameADiskThatCannotBeWritten) {
  if (!mounts_are_possible()) GTEST_SKIP() << "no mount namespaces here: a disk of its own cannot be made";
  init();
  shop.in_front = on_a_disk("ro", shop.path("frozen"));
  shop.state_dir = shop.path("frozen") + "/state";
  expect_refused(EX_CONFIG, "the disk is read-only, set state.dir to another one");
}

TEST_F(StartupErrors, NameTheNearestKeyOfAnUnknownOne) {
  shop.keys = "on_unregistred = \"drop\"\n";
  for (const std::vector<std::string>& subcommand : std::vector<std::vector<std::string>>{
           {"check"}, {"run"}, {"init"}, {"seek", "--requests", "end"}, {"config", "print"}}) {
    const Ran ran = shop.run(subcommand);
    EXPECT_EQ(ran.code, EX_CONFIG);
    EXPECT_THAT(ran.last_line, EndsWith("unknown key on_unregistred; the nearest one is on_unregistered"));
  }
}

TEST_F(StartupErrors, NameTheTargetThatDocumentsWaitFor) {
  leave_a_document_waiting();
  EXPECT_EQ(shop.run({"check"}).code, EX_OK);
  shop.tables = "[[target]]\nname = \"search\"\n";
  expect_refused(EX_CONFIG, "add [[target]] name = \"catalogue\" until they are done");
}

TEST_F(StartupErrors, NameTheSequenceKindAndPartitionerOfTheState) {
  leave_a_document_waiting();
  shop.keys = "sequence_kind = \"text\"\n";
  expect_refused(EX_CONFIG, "set sequence_kind = \"u64\"");
  shop.keys = "partitioner = \"crc32\"\n";
  expect_refused(EX_CONFIG, "set partitioner = \"murmur2\"");
}

TEST_F(StartupErrors, NameTheVersionOfLibrdkafka) {
  shop.environment = {std::string("LD_PRELOAD=") + OTHER_LIBRDKAFKA};
  expect_refused(
      EX_CONFIG,
      "librdkafka 2.1.1 is refused: it resets consumer offsets by itself and reads records twice; install 2.0.2");
}

TEST_F(StartupErrors, NameThePropertyThatLibrdkafkaDoesNotKnow) {
  shop.tables += "[kafka]\n\"linger.mss\" = 5\n";
  expect_refused(EX_CONFIG, "; correct it in [kafka] or in the environment");
  shop.tables = "[[target]]\nname = \"search\"\n[kafka]\n\"isolation.level\" = \"read_uncommitted\"\n";
  expect_refused(EX_CONFIG, "kafka property isolation.level must not be set");
}

TEST_F(StartupErrors, NameWrongCredentials) {
  const SecuredBroker secured("reseq", "correct-horse");
  shop.bootstrap_servers = secured.bootstrap_servers();
  shop.tables +=
      "[kafka]\nsecurity.protocol = \"sasl_plaintext\"\nsasl.mechanism = \"PLAIN\"\nsasl.username = \"reseq\"\n"
      "sasl.password = \"wrong-password\"\n";
  expect_refused(EX_CONFIG, "correct security.protocol, sasl.* and ssl.* in [kafka], or RESEQ_KAFKA_SASL_PASSWORD");
  EXPECT_THAT(shop.run({"init"}).last_line, HasSubstr("the brokers refuse this user"));
  EXPECT_THAT(shop.run({"config", "print"}).text, Not(HasSubstr("wrong-password")));

  shop.environment = {"RESEQ_KAFKA_SASL_PASSWORD=correct-horse"};
  init();
  EXPECT_EQ(shop.run({"check"}).code, EX_OK);

  // The same folder with another cluster: the copies in it belong to the first one.
  const auto process = shop.start_and_wait();
  process->signal(SIGTERM);
  ASSERT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
  shop.bootstrap_servers = Broker::shared().bootstrap_servers();
  shop.tables = "[[target]]\nname = \"search\"\n";
  init();
  expect_refused(EX_CONFIG, "set another state.dir, or remove this folder to have the state read again");
}

// `run` waits for brokers for a minute: it does so beside the other tests.
class NoBrokers : public testing::Environment {
 public:
  void SetUp() override {
    waiting = std::make_unique<Operator>("127.0.0.1:1");
    process = waiting->start();
  }
  void TearDown() override {
    process.reset();
    waiting.reset();
  }
  std::unique_ptr<Operator> waiting;
  std::unique_ptr<Process> process;
};
NoBrokers* const no_brokers = [] {
  auto* made = new NoBrokers;  // owned by GoogleTest
  testing::AddGlobalTestEnvironment(made);
  return made;
}();

TEST_F(StartupErrors, NameTheBrokersThatDoNotAnswer) {
  shop.bootstrap_servers = "127.0.0.1:1";
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_CONFIG) << checked.text;
  const std::string fix = "start Kafka, or correct bootstrap.servers";
  EXPECT_THAT(checked.last_line, AllOf(StartsWith("error"), HasSubstr("127.0.0.1:1"), EndsWith(fix)));
  EXPECT_EQ(no_brokers->process->wait(kNoBrokerLimitMs), EX_UNAVAILABLE);
  EXPECT_THAT(no_brokers->waiting->log(), EndsWith(fix + "\n"));
}

}  // namespace
}  // namespace reseq::test
