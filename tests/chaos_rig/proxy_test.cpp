// Each rule of the proxy does what it says, on a real broker with real clients.
#include <array>
#include <chrono>
#include <gtest/gtest.h>

#include "tests/chaos/proxy/socket.h"
#include "tests/chaos_rig/scene.h"
#include "tests/e2e/patience.h"

namespace reseq::chaos {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Payloads = std::vector<std::string>;

class ProxyRules : public testing::Test {
 protected:
  std::uint64_t forwarded(Api api) { return scene.proxy().forwarded()[api]; }
  bool acts(RuleId rule) {
    return test::wait_until(kPatience, [&] { return scene.proxy().counts(rule).acted > 0; });
  }

  Scene scene{one_broker()};
};

TEST_F(ProxyRules, WithoutRulesEverythingPasses) {
  const auto producer = scene.plain_producer("plain");
  const std::uint64_t before = forwarded(Api::kProduce);
  Payloads sent;
  for (int i = 0; i < 1000; ++i) {
    sent.push_back(std::to_string(i));
    good(producer->send(scene.topic(), {}, sent.back(), {}));
  }
  sent.emplace_back(900'000, 'x');
  put(*producer, scene.topic(), sent.back());
  EXPECT_GT(forwarded(Api::kProduce), before);
  EXPECT_EQ(scene.committed_payloads(), sent);
}

TEST_F(ProxyRules, ADelayHoldsUpThatClientAlone) {
  const auto slow = scene.plain_producer("slow.1");
  const auto other = scene.plain_producer("other");
  const RuleId rule = scene.proxy().add({.match = {.client = "slow.*", .apis = {Api::kProduce}},
                                         .way = Way::kRequests,
                                         .action = Delay{.by = milliseconds(300), .jitter = milliseconds(50)}});
  put(*other, scene.topic(), "other");
  EXPECT_EQ(scene.proxy().counts(rule).acted, 0U);
  const auto begin = Clock::now();
  put(*slow, scene.topic(), "slow");
  EXPECT_GE(Clock::now() - begin, milliseconds(300));
  EXPECT_EQ(scene.proxy().counts(rule).acted, 1U);
}

TEST_F(ProxyRules, AThrottledMessageTrickles) {
  const auto producer = scene.plain_producer("throttled");
  put(*producer, scene.topic(), "first");
  scene.proxy().add({.match = {.client = "throttled"}, .action = Throttle{.bytes_per_second = 200'000}});
  const auto begin = Clock::now();
  put(*producer, scene.topic(), std::string(100'000, 'x'));
  EXPECT_GE(Clock::now() - begin, milliseconds(450));
}

TEST_F(ProxyRules, ConnectionsThatAreCutAreMadeAnew) {
  const auto producer = scene.plain_producer("cut");
  put(*producer, scene.topic(), "before");
  EXPECT_EQ(scene.proxy().cut({.client = "nobody"}), 0U);
  EXPECT_GE(scene.proxy().cut({.client = "cut"}), 1U);
  const RuleId rule =
      scene.proxy().add({.match = {.client = "cut", .apis = {Api::kProduce}}, .action = Cut{}, .limit = 2});
  put(*producer, scene.topic(), "after");
  EXPECT_EQ(scene.proxy().counts(rule).acted, 2U);
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));
}

TEST_F(ProxyRules, OfAHalfOpenConnectionNothingComesUntilItIsHealed) {
  const auto producer = scene.plain_producer("half-open");
  put(*producer, scene.topic(), "before");
  const RuleId rule = scene.proxy().add({.match = {.client = "half-open"}, .action = Swallow{}});
  good(producer->send(scene.topic(), {}, "after", {}));
  const auto flushed = producer->flush(Milliseconds(500));
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().what_to_do, ErrorClass::kTimeout);
  EXPECT_TRUE(acts(rule));
  EXPECT_EQ(scene.committed_payloads(), Payloads{"before"});
  scene.proxy().remove(rule);
  good(producer->flush(kLong));
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));
}

TEST_F(ProxyRules, WhenOnlyResponsesVanishTheBrokerDoesItsWorkOnce) {
  const auto producer = scene.plain_producer("one-way");
  put(*producer, scene.topic(), "before");
  const RuleId rule = scene.proxy().add(
      {.match = {.client = "one-way", .apis = {Api::kProduce}}, .way = Way::kResponses, .action = Swallow{}});
  good(producer->send(scene.topic(), {}, "after", {}));
  EXPECT_FALSE(producer->flush(Milliseconds(500)));
  EXPECT_TRUE(acts(rule));
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));  // nobody knows
  scene.proxy().remove(rule);
  good(producer->flush(kLong));
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"before", "after"}));
}

TEST_F(ProxyRules, RefusedConnectionsAreMadeWhenTheRuleIsGone) {
  const RuleId rule = scene.proxy().add({.match = {.broker = 1}, .action = Refuse{}});
  const auto producer = scene.plain_producer("refused");
  good(producer->send(scene.topic(), {}, "late", {}));
  // It tries again and again, which it would not if it had got through.
  EXPECT_TRUE(test::wait_until(kPatience, [&] { return scene.proxy().counts(rule).acted >= 5; }));
  EXPECT_FALSE(producer->flush(Milliseconds(0)));
  scene.proxy().remove(rule);
  good(producer->flush(kLong));
  EXPECT_EQ(scene.committed_payloads(), Payloads{"late"});
}

TEST_F(ProxyRules, WhatIsHeldComesLateAndInOrder) {
  const auto producer = scene.plain_producer("held");
  put(*producer, scene.topic(), "0");
  const RuleId rule = scene.proxy().add({.match = {.client = "held"}, .action = Hold{}});
  for (int i = 1; i < 4; ++i) {
    good(producer->send(scene.topic(), {}, std::to_string(i), {}));
    EXPECT_FALSE(producer->flush(Milliseconds(50)));
  }
  EXPECT_TRUE(acts(rule));
  EXPECT_EQ(scene.committed_payloads(), Payloads{"0"});
  scene.proxy().remove(rule);
  good(producer->flush(kLong));
  EXPECT_EQ(scene.committed_payloads(), (Payloads{"0", "1", "2", "3"}));
  const RuleCounts counts = scene.proxy().counts(rule);
  EXPECT_GT(counts.delivered, 0U);
  EXPECT_EQ(counts.lost, 0U);
}

TEST_F(ProxyRules, AStreamWithAHoleIsResetWhenItsRuleIsGone) {
  const RuleId rule = scene.proxy().add({.match = {.client = "hole"}, .action = Swallow{}});
  const std::string frame = WireWriter().i16(3).i16(1).i32(0).text("hole").i32(-1).frame();  // Metadata
  Socket socket = Socket::connect(scene.proxy().port(1));
  ASSERT_TRUE(test::wait_until(kPatience, [&] { return socket.send(frame).bytes == frame.size(); }));
  EXPECT_TRUE(acts(rule));
  std::array<char, 16> answer{};
  EXPECT_EQ(socket.receive(answer.data(), answer.size()).outcome, Socket::Outcome::kWait);
  scene.proxy().remove(rule);
  EXPECT_TRUE(test::wait_until(
      kPatience, [&] { return socket.receive(answer.data(), answer.size()).outcome == Socket::Outcome::kEnded; }));
}

// The kernel keeps some MiB of its own on both sides.
TEST_F(ProxyRules, AConnectionThatIsHeldIsNotReadWithoutEnd) {
  constexpr std::size_t kMebibyte = 1'048'576;
  scene.proxy().add({.match = {.client = "flood"}, .way = Way::kRequests, .action = Hold{}});
  const std::string frame =
      WireWriter().i16(3).i16(1).i32(0).text("flood").raw(std::string(kMebibyte, 'x')).frame();  // Metadata
  Socket socket = Socket::connect(scene.proxy().port(1));
  std::size_t sent = 0;
  const auto goes_on = [&] {
    const auto moved = socket.send(std::string_view(frame).substr(sent % frame.size()));
    sent += moved.bytes;
    return moved.bytes > 0;
  };
  while (sent < 64 * kMebibyte && test::wait_until(std::chrono::seconds(1), goes_on)) continue;
  EXPECT_GT(sent, kBufferedMax);
  EXPECT_LT(sent, kBufferedMax + 32 * kMebibyte);
}

}  // namespace
}  // namespace reseq::chaos
