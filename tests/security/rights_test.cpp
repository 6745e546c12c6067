// The ACLs of docs/security.md are enough, and each of them is needed: without it `check` names it, and only it.
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <sysexits.h>
#include <vector>

#include "tests/e2e/patience.h"
#include "tests/security/guarded_application.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using kafka::Operation;
using kafka::Resource;
using kafka::Right;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::milliseconds kLimit{60'000};
constexpr std::size_t kPartitions = 4;  // that init makes
constexpr const char* kAclCommand = "org.apache.kafka.tools.AclCommand";

const char* name_of(Operation operation) {
  return operation == Operation::kRead ? "Read" : operation == Operation::kWrite ? "Write" : "DescribeConfigs";
}

class InitRights : public GuardedApplication {
 protected:
  // The commands of docs/security.md, done with the program of the jars instead of kafka-acls.sh, for this application.
  void do_as_the_page_says(const std::string& part) {
    std::ifstream page(source_path("docs/security.md"));
    std::string line;
    while (std::getline(page, line) && line != "<!-- " + part + ": begin -->") {
    }
    int done = 0;
    while (std::getline(page, line) && line != "<!-- " + part + ": end -->") {
      if (!line.starts_with("kafka-acls.sh ")) continue;
      administrate(line.substr(line.find(' ') + 1));
      ++done;
    }
    EXPECT_GT(done, 0) << part;
  }
  // As the administrator; `shop` is this application.
  void administrate(const std::string& command) {
    std::vector<std::string> arguments = {"--bootstrap-server", broker.address("plain")};
    std::istringstream words(command);
    for (std::string word; words >> word;) {
      if (word == "shop" || word.starts_with("shop.")) word.replace(0, 4, shop.application_id());
      arguments.push_back(word);
    }
    EXPECT_THAT(broker.kafka_program(kAclCommand, arguments), Not(HasSubstr("exit code")));
  }
};

TEST_F(InitRights, OfThePageAreEnough) {
  come_in_by("login");
  EXPECT_THAT(shop.run({"init"}).last_line, HasSubstr("init needs Create and Describe on the topics"));
  do_as_the_page_says("rights of init");
  Ran made;
  EXPECT_TRUE(wait_until(kLimit, [&] {
    made = shop.run({"init"});
    return made.code == EX_OK;
  })) << made.text;
}

class Rights : public InitRights {
 protected:
  void SetUp() override {
    make_topics();
    come_in_by("login");
  }
  // What the list says, but for transactional ids.
  [[nodiscard]] std::vector<Right> list() const {
    std::vector<Right> rights;
    for (const char* role : {"requests", "commands", "control", "changelog"})
      rights.push_back({Resource::kTopic, shop.topic(role), Operation::kRead});
    for (const char* role : {"work", "output.search", "dead-letter", "events", "changelog"})
      rights.push_back({Resource::kTopic, shop.topic(role), Operation::kWrite});
    for (const char* role :
         {"requests", "commands", "control", "changelog", "work", "output.search", "dead-letter", "events"})
      rights.push_back({Resource::kTopic, shop.topic(role), Operation::kDescribeConfigs});
    rights.push_back({Resource::kTopic, shop.topic("admin.requests"), Operation::kRead});
    rights.push_back({Resource::kTopic, shop.topic("admin.replies"), Operation::kWrite});
    rights.push_back({Resource::kGroup, shop.application_id(), Operation::kRead});
    return rights;
  }
  // librdkafka 2.0.2 has no ACLs of transactional ids.
  void transactional_ids(const std::string& action) {
    administrate(action +
                 " --allow-principal User:reseq --operation Write --transactional-id shop. --resource-pattern-type "
                 "prefixed");
  }

  // ACLs reach the authorizer a moment after they were changed.
  void expect_only_missing(const std::string& what) {
    Ran checked;
    EXPECT_TRUE(wait_until(kLimit,
                           [&] {
                             checked = shop.run({"check", "--skip-state"});
                             return checked.last_line.starts_with("error    rights    " + what +
                                                                  " is not granted to this user");
                           }))
        << what << ":\n"
        << checked.text;
    std::istringstream lines(checked.text);
    int errors = 0;
    for (std::string line; std::getline(lines, line);)
      errors += line.starts_with("error") || line.starts_with("warning  rights") ? 1 : 0;
    EXPECT_EQ(errors, 1) << checked.text;
  }
  void expect_nothing_missing() {
    Ran checked;
    EXPECT_TRUE(wait_until(kLimit, [&] {
      checked = shop.run({"check"});
      return checked.code == EX_OK;
    })) << checked.text;
    EXPECT_THAT(checked.text, HasSubstr("ok       rights    all 21 that it needs"));
  }
  // Does what `check` tells to do.
  void obey(const std::string& line) {
    const std::string before = "--command-config admin.properties ";
    const std::size_t begin = line.find(before) + before.size();
    administrate(line.substr(begin, line.rfind('`') - begin));
  }
  [[nodiscard]] std::size_t times_said(const std::string& text) const {
    const std::string log = shop.log();
    std::size_t times = 0;
    for (std::size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++times;
    return times;
  }
  // Without the prefix: one for each worker.
  void expect_literal_ids_to_be_enough() {
    const std::string id = shop.application_id() + ".1.";
    const std::string grant = " --allow-principal User:reseq --operation Write --transactional-id " + id;
    administrate("--add" + grant + "0");
    expect_nothing_missing();
    shop.keys = "workers = 2\n";
    expect_only_missing("Write on transactional id " + id + "1");
    obey(shop.run({"check", "--skip-state"}).last_line);
    Ran checked;
    EXPECT_TRUE(wait_until(kLimit, [&] {
      checked = shop.run({"check"});
      return checked.code == EX_OK;
    })) << checked.text;
    shop.keys.clear();
    administrate("--remove --force" + grant + "0");
    administrate("--remove --force" + grant + "1");
    expect_only_missing("Write on transactional ids that begin with " + shop.application_id() + ".");
  }
  // `run` ends and says why.
  void expect_run_names(const std::string& text) {
    const Ran ran = shop.run({"run"});
    EXPECT_EQ(ran.code, EX_CONFIG) << ran.text;
    EXPECT_THAT(ran.last_line,
                AllOf(HasSubstr(text), HasSubstr("`resequencer check` names the right that is missing")));
  }
};

TEST_F(Rights, OfTheListAreEnoughAndEachIsNamedWhenItIsMissing) {
  EXPECT_THAT(shop.run({"check"}).last_line, HasSubstr("is not granted to this user"));
  do_as_the_page_says("rights");
  expect_nothing_missing();
  expect_a_document_passes();
  for (const Right& right : list()) {
    broker.revoke(right);
    expect_only_missing(name_of(right.operation) +
                        std::string(right.resource == Resource::kTopic ? " on topic " : " on group ") + right.name);
    broker.grant(right);
  }
  expect_nothing_missing();
  transactional_ids("--remove --force");
  expect_only_missing("Write on transactional ids that begin with " + shop.application_id() + ".");
  expect_run_names("Transactional Id authorization failed");
  expect_literal_ids_to_be_enough();
  obey(shop.run({"check", "--skip-state"}).last_line);
  expect_nothing_missing();
}

TEST_F(Rights, ThatAreMissingAreSaidByRun) {
  for (const Right& right : list()) broker.grant(right);
  transactional_ids("--add");
  expect_nothing_missing();
  const Right configs{Resource::kTopic, shop.topic("work"), Operation::kDescribeConfigs};
  broker.revoke(configs);
  expect_only_missing("DescribeConfigs on topic " + shop.topic("work"));
  expect_run_names("on topic " + shop.topic("work"));
  broker.grant(configs);

  const Right group{Resource::kGroup, shop.application_id(), Operation::kRead};
  broker.revoke(group);
  expect_only_missing("Read on group " + shop.application_id());
  expect_run_names("Group authorization failed");
  broker.grant(group);

  // A right that goes while it runs: the transaction that needs it is repeated, and the log has the topic.
  expect_nothing_missing();
  const auto process = shop.start_and_wait();
  const Right work{Resource::kTopic, shop.topic("work"), Operation::kWrite};
  broker.revoke(work);
  expect_only_missing("Write on topic " + shop.topic("work"));
  send("requests", "book", {{"reseq-seq", "1"}});
  EXPECT_TRUE(wait_until(kLimit, [&] { return shop.log().find("transaction=aborted") != std::string::npos; }))
      << process->tail();
  EXPECT_THAT(shop.log(), HasSubstr("Topic authorization failed"));
  broker.grant(work);
  EXPECT_EQ(next_of("work"), "book") << process->tail();
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
}

// Nobody has to restart a process because of a right that was taken away by mistake, and given back.
TEST_F(Rights, ToReadThatComeBackAreUsedWithoutARestart) {
  for (const Right& right : list()) broker.grant(right);
  transactional_ids("--add");
  expect_nothing_missing();
  const auto process = shop.start_and_wait();
  int sequence = 0;
  std::size_t resumed = 0;
  for (const char* role : {"requests", "commands"}) {
    const std::string number = std::to_string(++sequence);
    broker.revoke({Resource::kTopic, shop.topic(role), Operation::kRead});
    EXPECT_TRUE(wait_until(kLimit, [&] {
      return times_said("reading=refused waiting=input_read seconds=0 detail=\"" + shop.topic(role)) == kPartitions;
    })) << process->tail();
    EXPECT_THAT(shop.log(), HasSubstr("`resequencer check` names the right that is missing"));
    // What comes meanwhile waits: a transaction that names the topic would be refused.
    send("requests", "book", {{"reseq-seq", number}});
    send("commands", "book", {{"reseq-command", "sequence"}, {"reseq-seq", number}, {"reseq-target", "search"}});
    const std::size_t said = times_said("reading=refused");
    EXPECT_TRUE(wait_until(kLimit, [&] { return times_said("reading=refused") > said + kPartitions; }))
        << process->tail();
    EXPECT_THAT(shop.log(), Not(AnyOf(HasSubstr("parked"), HasSubstr("ends=failed"), HasSubstr("transaction="))));
    broker.grant({Resource::kTopic, shop.topic(role), Operation::kRead});
    resumed += kPartitions;
    EXPECT_TRUE(wait_until(kLimit, [&] { return times_said("reading=resumed") == resumed; })) << process->tail();
    EXPECT_EQ(next_of("work"), "book") << process->tail();
    EXPECT_EQ(next_of("output.search"), "book") << process->tail();
  }
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
}

// Once librdkafka has looked at its topics, a right to read is also one to see them; the group ends the assignment. The
// process is killed in the end: librdkafka 2.0.2 does not let go of such a consumer.
TEST_F(Rights, ToSeeInputsThatComeBackAreUsedWithoutARestart) {
  for (const Right& right : list()) broker.grant(right);
  transactional_ids("--add");
  expect_nothing_missing();
  shop.tables += "\"topic.metadata.refresh.interval.ms\" = 1000\n";
  const auto process = shop.start_and_wait();
  const Right read{Resource::kTopic, shop.topic("requests"), Operation::kRead};
  broker.revoke(read);
  EXPECT_TRUE(wait_until(kLimit, [&] { return times_said("group=revoked") == 1; })) << process->tail();
  EXPECT_THAT(shop.log(), HasSubstr("topic " + shop.topic("requests") + ": Broker: Topic authorization failed"));
  broker.grant(read);
  EXPECT_TRUE(wait_until(kLimit, [&] { return times_said("takeover=ready") == kPartitions; })) << process->tail();
  send("requests", "book", {{"reseq-seq", "1"}});
  EXPECT_EQ(next_of("work"), "book") << process->tail();
}

}  // namespace
}  // namespace reseq::test
