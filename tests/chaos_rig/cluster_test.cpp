// Brokers that die, hang and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "kafka/admin.h"
#include "kafka/broker_question.h"
#include "tests/chaos_rig/scene.h"
#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/process.h"

namespace reseq::chaos {
namespace {

using testing::HasSubstr;
using testing::Not;
using Payloads = std::vector<std::string>;

TEST(OneBroker, ThatIsStoppedAnswersAgainWhenItGoesOn) {
  Scene scene(one_broker());
  const auto producer = scene.plain_producer("plain");
  put(*producer, scene.topic(), "before");
  scene.cluster().stop(1);
  EXPECT_TRUE(scene.cluster().stopped(1));
  EXPECT_FALSE(scene.cluster().healthy());
  good(producer->send(scene.topic(), {}, "after", {}));
  EXPECT_FALSE(producer->flush(Milliseconds(300)));
  scene.cluster().cont(1);
  good(producer->flush(kLong));
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));
}

TEST(OneBroker, ThatIsKilledComesBackAtItsAddressWithItsRecords) {
  Scene scene(one_broker());
  const auto producer = scene.plain_producer("plain");
  put(*producer, scene.topic(), "before");
  const std::string address = scene.cluster().bootstrap_servers();
  scene.cluster().kill(1);
  EXPECT_FALSE(scene.cluster().alive(1));
  EXPECT_EQ(scene.cluster().leader(scene.topic(), 0), 0);
  ASSERT_TRUE(scene.cluster().heal(kHealing));
  EXPECT_EQ(scene.cluster().bootstrap_servers(), address);
  put(*producer, scene.topic(), "after");
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));
}

// A broker that has much to do answers later than a request may take, and has done by then what was asked for.
TEST(OneBroker, IsAskedAgainToMakeAndDeleteTopicsWhenItsAnswersAreLost) {
  Scene scene(one_broker());
  const auto admin = good(kafka::Admin::open(scene.connection("admin")));
  const auto lose = [&](Api api) {
    return scene.proxy().add(
        {.match = {.client = "admin", .apis = {api}}, .way = Way::kResponses, .action = Swallow{}, .limit = 1});
  };
  const kafka::TopicSpec spec{scene.topic() + ".late", 3};
  const RuleId made = lose(Api::kCreateTopics);
  good(admin->create_topics({&spec, 1}, kLong));
  EXPECT_EQ(scene.proxy().counts(made).acted, 1U);
  EXPECT_EQ(good(admin->partition_count(spec.name, kLong)), 3);
  const RuleId deleted = lose(Api::kDeleteTopics);
  good(admin->delete_topics({&spec.name, 1}, kLong));
  EXPECT_EQ(scene.proxy().counts(deleted).acted, 1U);
}

class ThreeBrokers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = new Cluster({.brokers = 3,
                            .folder = folder() + "/cluster",
                            .properties = {{"broker.session.timeout.ms", "3000"}}});  // each death costs as much
  }
  static void TearDownTestSuite() { delete cluster_; }
  static std::string folder() {
    static const test::TempDir folder;
    return folder.path();
  }
  void SetUp() override { ASSERT_TRUE(cluster_->heal(kHealing)); }

  static Cluster* cluster_;
};

Cluster* ThreeBrokers::cluster_ = nullptr;

TEST_F(ThreeBrokers, TheNextLeaderHasEverythingThatWasAcknowledged) {
  Scene scene(*cluster_, 3);
  const auto producer = scene.plain_producer("plain");
  put(*producer, scene.topic(), "before");
  const int leader = cluster_->leader(scene.topic(), 0);
  ASSERT_NE(leader, 0);
  cluster_->kill(leader);
  put(*producer, scene.topic(), "after");
  const int next = cluster_->leader(scene.topic(), 0);
  EXPECT_NE(next, 0);
  EXPECT_NE(next, leader);
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));
}

TEST_F(ThreeBrokers, TransactionsGoOnAtTheNextCoordinator) {
  Scene scene(*cluster_, 3);
  auto settings = scene.settings();
  settings.transaction_timeout = kLong;  // until the others have noticed, on a slow machine
  const auto producer = scene.producer(settings);
  const auto commit_of = [&](const std::string& payload) {
    good(producer->begin());
    put(*producer, payload);
    return [&] { good(settled([&] { return producer->commit(kLong); })); };
  };
  std::map<int, RuleId> commits;  // counted by broker
  for (int broker = 1; broker <= 3; ++broker)
    commits[broker] = scene.proxy().add(
        {.match = {.broker = broker, .apis = {Api::kEndTxn}}, .action = Delay{.by = std::chrono::milliseconds(0)}});
  const int coordinator = cluster_->transaction_coordinator(scene.name());
  ASSERT_NE(coordinator, 0);
  commit_of("first")();
  for (const auto& [broker, rule] : commits)
    EXPECT_EQ(scene.proxy().counts(rule).acted > 0, broker == coordinator) << broker;

  const auto commit_second = commit_of("second");
  cluster_->kill(coordinator);
  commit_second();
  const int next = cluster_->transaction_coordinator(scene.name());
  ASSERT_NE(next, 0);
  EXPECT_NE(next, coordinator);
  EXPECT_GT(scene.proxy().counts(commits[next]).acted, 0U);
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"first", "second"}));
}

TEST_F(ThreeBrokers, OneAloneAcknowledgesNothingAndAllTogetherLoseNothing) {
  Scene scene(*cluster_, 3);
  const auto producer = scene.plain_producer("plain");
  put(*producer, scene.topic(), "before");
  const int leader = cluster_->leader(scene.topic(), 0);
  for (int broker = 1; broker <= 3; ++broker) {
    if (broker != leader) cluster_->kill(broker);
  }
  good(producer->send(scene.topic(), {}, "after", {}));
  EXPECT_FALSE(producer->flush(Milliseconds(1'000)));
  cluster_->kill_all();
  EXPECT_EQ(cluster_->group_coordinator(scene.name()), 0);
  ASSERT_TRUE(cluster_->heal(kHealing));
  good(producer->flush(kLong));
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));
  EXPECT_TRUE(test::wait_until(kPatience, [&] { return cluster_->group_coordinator(scene.name()) != 0; }));
}

TEST_F(ThreeBrokers, HaveThreeReplicasOfWhatInitMakesAndCheckMissesThem) {
  test::Operator shop(cluster_->bootstrap_servers());
  EXPECT_THAT(shop.run({"init"}).text,
              HasSubstr("created           " + shop.topic("changelog") + " partitions=4 replicas=3\n"));
  const test::Ran content = shop.run({"check"});
  EXPECT_EQ(content.code, 0) << content.text;
  EXPECT_THAT(content.text, Not(HasSubstr("warning")));

  test::Operator careless(cluster_->bootstrap_servers());
  careless.keys = "init.replication = 1\n";
  EXPECT_THAT(careless.run({"init"}).text, HasSubstr(careless.topic("requests") + " partitions=4 replicas=1\n"));
  const test::Ran warned = careless.run({"check"});
  EXPECT_EQ(warned.code, 0) << warned.text;
  for (const char* role : {"changelog", "requests", "commands"})
    EXPECT_THAT(warned.text, HasSubstr("warning  topics    topic " + careless.topic(role) +
                                       " has 1 replica, the cluster has 3 brokers: a broken disk may lose what was "
                                       "acknowledged; give each partition 3 with"));
}

// Not two, which would stay two for ever.
TEST_F(ThreeBrokers, HaveThreeReplicasOfWhatInitMakesWhileOneOfThemIsDown) {
  test::Operator shop(cluster_->bootstrap_servers());
  EXPECT_EQ(shop.run({"init"}).code, 0);
  cluster_->kill(2);
  test::Operator other(cluster_->bootstrap_servers());
  const test::Ran made = other.run({"init"});
  EXPECT_EQ(made.code, 0) << made.text;
  EXPECT_THAT(made.text, HasSubstr("created           " + other.topic("changelog") + " partitions=4 replicas=3\n"));
  ASSERT_TRUE(cluster_->heal(kHealing));
  const test::Ran content = other.run({"check"});
  EXPECT_EQ(content.code, 0) << content.text;
  EXPECT_THAT(content.text, Not(HasSubstr("warning")));
}

// bootstrap.servers names one broker, which is gone; the two others work.
TEST_F(ThreeBrokers, AnswerTheQuestionWhetherTheyAreThereWhenTheOneThatIsConfiguredIsGone) {
  const std::string all = cluster_->bootstrap_servers();
  const kafka::Connection connection{.bootstrap_servers = all.substr(0, all.find(','))};
  kafka::BrokerQuestion question(connection);
  good(question.ask(Milliseconds(30'000)));
  cluster_->kill(1);
  EXPECT_TRUE(question.ask(Milliseconds(10'000)));
  EXPECT_FALSE(kafka::BrokerQuestion(connection).ask(Milliseconds(1'000))) << "it was there, so this shows nothing";
}

}  // namespace
}  // namespace reseq::chaos
