// What the subcommands print and do when all is well.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sysexits.h>

#include "tests/operator/operator.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Subcommands : public testing::Test {
 protected:
  Operator shop{Broker::shared().bootstrap_servers()};
};

TEST_F(Subcommands, InitSaysWhatItWouldDoAndThenDoesIt) {
  const Ran dry = shop.run({"init", "--dry-run"});
  EXPECT_EQ(dry.code, EX_OK) << dry.text;
  EXPECT_THAT(dry.text, HasSubstr("would be created  " + shop.topic("requests") + " partitions=4 replicas=1\n"));
  EXPECT_EQ(shop.run({"check"}).code, EX_CONFIG) << "a dry run has created topics";
  const Ran done = shop.run({"init"});
  EXPECT_EQ(done.code, EX_OK) << done.text;
  EXPECT_THAT(done.text, HasSubstr("created           " + shop.topic("work") + " partitions=16 replicas=1\n"));
  const Ran again = shop.run({"init"});
  EXPECT_EQ(again.code, EX_OK) << again.text;
  EXPECT_THAT(again.text, HasSubstr("exists            " + shop.topic("work") + " partitions=16\n"));
}

TEST_F(Subcommands, CheckCountsTheTopicsThatInitMakesAndWarnsOnceOfThoseItCanDoWithout) {
  const Ran before = shop.run({"check"});
  const std::string warned = "warning  admin     queries will not be answered without the topics " +
                             shop.topic("admin.requests") + ", " + shop.topic("admin.replies") + ": ";
  EXPECT_THAT(before.text, HasSubstr(warned));
  EXPECT_EQ(before.text.find("warning  admin"), before.text.rfind("warning  admin")) << before.text;
  const Ran made = shop.run({"init"});
  const auto lines = std::count(made.text.begin(), made.text.end(), '\n');
  EXPECT_THAT(shop.run({"check"}).text, HasSubstr("ok       topics    " + std::to_string(lines) + " topics, "));
}

TEST_F(Subcommands, InitGivesNewTopicsThePartitionsOfThoseThatExist) {
  shop.create_topic("requests", 7);
  shop.create_topic("output.search", 2);
  const Ran ran = shop.run({"init"});
  EXPECT_EQ(ran.code, EX_OK) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("created           " + shop.topic("commands") + " partitions=7 replicas=1\n"));
  EXPECT_THAT(ran.text, HasSubstr("created           " + shop.topic("changelog") + " partitions=7 replicas=1\n"));
  EXPECT_THAT(ran.text, HasSubstr("exists            " + shop.topic("output.search") + " partitions=2\n"));
}

TEST_F(Subcommands, CheckWarnsOfATopicWhoseLeaderMayLackWhatWasAcknowledged) {
  shop.create_topic("requests", 4, {{"unclean.leader.election.enable", "true"}, {"retention.ms", "604800000"}});
  ASSERT_EQ(shop.run({"init"}).code, EX_OK);
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_OK) << checked.text;
  EXPECT_THAT(checked.last_line, AllOf(StartsWith("warning  topics    topic " + shop.topic("requests")),
                                       EndsWith("set unclean.leader.election.enable=false")));
}

TEST_F(Subcommands, CheckIsContentWithWhatInitMakes) {
  ASSERT_EQ(shop.run({"init"}).code, EX_OK);
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_OK) << checked.text;
  EXPECT_THAT(checked.text, Not(HasSubstr("error")));
  EXPECT_THAT(checked.text, Not(HasSubstr("warning")));
  EXPECT_THAT(checked.text, HasSubstr("ok       brokers   " + shop.bootstrap_servers));
  EXPECT_THAT(checked.last_line, EndsWith("0 documents wait for results, 0 are complete"));

  const Ran as_json = shop.run({"check", "-o", "json"});
  const auto json = nlohmann::json::parse(as_json.text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << as_json.text;
  EXPECT_EQ(json.at("ok"), true);
  EXPECT_EQ(json.at("findings").size(), 6U);
  shop.keys = "topic.work = \"" + shop.topic("missing") + "\"\n";
  const Ran bad = shop.run({"check", "-o", "json"});
  EXPECT_EQ(bad.code, EX_CONFIG);
  EXPECT_EQ(nlohmann::json::parse(bad.text).at("ok"), false);
}

TEST_F(Subcommands, CheckLeavesNoTraceOnTheDisk) {
  ASSERT_EQ(shop.run({"init"}).code, EX_OK);
  ASSERT_EQ(shop.run({"check"}).code, EX_OK);
  EXPECT_NE(::access(shop.state_dir.c_str(), F_OK), 0) << "check has created " << shop.state_dir;
}

TEST_F(Subcommands, ConfigPrintShowsWhatIsInForce) {
  shop.keys = "workers = 2\n";
  shop.environment = {"RESEQ_WORKERS=3", "RESEQ_KAFKA_SASL_PASSWORD=hunter2"};
  const Ran ran = shop.run({"config", "print"});
  EXPECT_EQ(ran.code, EX_OK);
  EXPECT_THAT(ran.text, HasSubstr("workers = 3\n"));
  EXPECT_THAT(ran.text, HasSubstr("topic.work = \"" + shop.topic("work") + "\"\n"));
  EXPECT_THAT(ran.text, HasSubstr("\"sasl.password\" = \"********\"\n"));
  EXPECT_THAT(ran.text, Not(HasSubstr("hunter2")));
}

TEST_F(Subcommands, AWrongCommandLineIsAUsageError) {
  EXPECT_EQ(shop.run({"chek"}).code, EX_USAGE);
  EXPECT_EQ(shop.run({"check", "-o", "yaml"}).code, EX_USAGE);
}

}  // namespace
}  // namespace reseq::test
