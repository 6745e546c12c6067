// What can happen to the commit of a transaction on its way: its reply is lost, or it comes too late. The last is the
// fault that recycle-on-doubt is there for.
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "tests/chaos_rig/scene.h"
#include "tests/e2e/patience.h"

namespace reseq::chaos {
namespace {

using Payloads = std::vector<std::string>;

constexpr std::int16_t kInvalidProducerEpoch = 47;
constexpr std::int16_t kProducerFenced = 90;

class Commit : public testing::Test {
 protected:
  // First transaction: one record. Its EndTxn is held and repeated by the client, to whom the commit looks good.
  void commit_late(kafka::Producer& producer) {
    good(producer.begin());
    put(producer, "first");
    good(settled([&] { return producer.commit(kLong); }));
  }
  bool finished(RuleId rule) {
    return test::wait_until(kPatience, [&] { return scene.proxy().counts(rule).answered > 0; });
  }

  Scene scene{one_broker()};
};

TEST_F(Commit, WhoseReplyIsLostIsRepeatedAndLeavesDoubt) {
  const auto producer = scene.producer(scene.settings());
  const RuleId rule = scene.proxy().add(lose_commit_reply(scene.name()));
  good(producer->begin());
  put(*producer, "once");
  EXPECT_FALSE(producer->in_doubt());
  good(settled([&] { return producer->commit(kLong); }));
  EXPECT_EQ(scene.proxy().counts(rule).acted, 1U);
  EXPECT_TRUE(producer->in_doubt());
  EXPECT_EQ(scene.committed_payloads(), Payloads{"once"});
}

// librdkafka tells of an error once in 30 s as long as it is the same (rd_kafka_broker_set_error): what a commit lost
// must not be among what it keeps to itself.
TEST_F(Commit, ThatIsRepeatedLeavesDoubtAlsoWhenItsConnectionWasLostInTheSameWayBefore) {
  std::atomic<std::size_t> noticed = 0;  // connections that librdkafka knows to be lost: it logs each of them
  auto settings = scene.settings();
  settings.connection.socket_timeout = Milliseconds(20'000);  // a commit that takes longer is in doubt for that alone
  settings.transaction_timeout = kLong;
  settings.connection.librdkafka = {{"debug", "broker"}};
  settings.connection.log = [&noticed](int, std::string_view fact, std::string_view) { noticed += fact == "FAIL"; };
  const auto producer = scene.producer(settings);
  const Match ours{.transactional_id = scene.name()};
  for (const std::string payload : {"one", "two", "three", "four"}) {
    good(producer->begin());
    put(*producer, payload);
    good(settled([&] { return producer->commit(kLong); }));
    ASSERT_FALSE(producer->in_doubt()) << payload;
    const std::size_t before = noticed;
    const std::size_t lost = scene.proxy().cut(ours);  // nothing is on its way
    ASSERT_GT(lost, 0U) << payload;
    // What it sends before it has noticed would be a doubt of its own.
    ASSERT_TRUE(test::wait_until(kPatience, [&] { return noticed >= before + lost; })) << payload;
  }
  const RuleId rule = scene.proxy().add(lose_commit_reply(scene.name()));
  good(producer->begin());
  put(*producer, "five");
  good(settled([&] { return producer->commit(kLong); }));
  EXPECT_EQ(scene.proxy().counts(rule).acted, 1U);
  EXPECT_TRUE(producer->in_doubt());
}

TEST_F(Commit, ThatIsHeldIsDoneWhenItsClientIsLongGone) {
  auto producer = scene.producer(scene.settings());
  auto rule = hold_commit(scene.name());
  std::get<Hold>(rule.action) = {};  // the client waits for the answer
  const RuleId held = scene.proxy().add(rule);
  good(producer->begin());
  put(*producer, "late");
  EXPECT_FALSE(producer->commit(Milliseconds(100)));
  producer.reset();
  scene.proxy().release(held);
  ASSERT_TRUE(finished(held));
  EXPECT_EQ(scene.proxy().counts(held).last_error, kDone);
  EXPECT_EQ(scene.committed_payloads(), Payloads{"late"});
}

TEST_F(Commit, ThatComesLateCommitsHalfOfTheNextTransactionOfAProducerThatWasNotRecycled) {
  auto settings = scene.settings();
  settings.recycle_on_doubt = false;
  const auto producer = scene.producer(settings);
  const RuleId rule = scene.proxy().add(hold_commit(scene.name(), {.api = Api::kProduce, .count = 1}));
  commit_late(*producer);
  EXPECT_EQ(scene.proxy().counts(rule).delivered, 0U);
  good(producer->begin());
  put(*producer, "half");  // acknowledged: the late commit is done
  ASSERT_TRUE(finished(rule));
  EXPECT_EQ(scene.proxy().counts(rule).last_error, kDone);
  (void)producer->abort(kLong);  // whatever it answers
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"first", "half"}));
}

TEST_F(Commit, ThatComesLateIsVoidAfterTheProducerWasRecycled) {
  auto producer = scene.producer(scene.settings());
  const RuleId rule = scene.proxy().add(hold_commit(scene.name(), {.api = Api::kProduce, .count = 1}));
  commit_late(*producer);
  ASSERT_TRUE(producer->in_doubt());
  producer.reset();
  producer = scene.producer(scene.settings());
  good(producer->begin());
  put(*producer, "half");
  ASSERT_TRUE(finished(rule));
  const std::int16_t error = scene.proxy().counts(rule).last_error;
  EXPECT_TRUE(error == kInvalidProducerEpoch || error == kProducerFenced) << error;
  good(settled([&] { return producer->abort(kLong); }));
  EXPECT_EQ(scene.committed_payloads(), Payloads{"first"});
}

}  // namespace
}  // namespace reseq::chaos
