// What a turn has no room for goes on with the next one, in the same order, and loses no time by it.
#include <gtest/gtest.h>

#include "tests/orders/playing.h"

namespace reseq::orders {
namespace {

constexpr std::uint32_t kRows = 3;  // of a turn
constexpr OrderNumber kMany = 20;

class Bounds : public testing::TestWithParam<TargetNumber> {
 protected:
  Input of(Kind kind, OrderNumber order) const { return {kind, 0, order, TargetSet::of(GetParam())}; }
  Answer at(std::int64_t ms, const std::vector<Input>& inputs, bool fenced = false) {
    return engine.play({UnixMs(ms), fenced, inputs});
  }
  void request_many() {
    std::vector<Input> inputs;
    for (OrderNumber order = 1; order <= kMany; ++order) inputs.push_back(of(Kind::kRequest, order));
    (void)at(1'000, inputs);
  }
  EnginePlayer engine{kRows};
};

TEST_P(Bounds, OfATurnAreThoseOfWhatLeaves) {
  request_many();
  std::vector<Input> results;
  for (OrderNumber order = kMany; order > 1; --order) results.push_back(of(Kind::kResult, order));
  EXPECT_EQ(at(1'100, results).held, kMany - 1);
  std::vector<OrderNumber> left;
  std::vector<Input> inputs = {of(Kind::kResult, 1)};
  for (int batches = 0; batches < 100 && left.size() < kMany; ++batches) {
    const Answer answer = at(1'200, inputs);
    EXPECT_LE(answer.released.size(), kRows + inputs.size());
    for (const Released& one : answer.released) left.push_back(one.order);
    EXPECT_EQ(engine.has_more(), left.size() < kMany) << "a worker that does not wake up for it would wait for ever";
    inputs.clear();
  }
  ASSERT_EQ(left.size(), kMany);
  for (OrderNumber order = 1; order <= kMany; ++order) EXPECT_EQ(left[order - 1], order);
}

TEST_P(Bounds, OfATurnMakeNobodyWaitForEachGap) {
  request_many();
  std::size_t skipped = 0;
  for (int batches = 0; batches < 100 && skipped < kMany; ++batches) {
    ASSERT_TRUE(engine.next_gap() && *engine.next_gap() <= UnixMs(1'000 + kGapMs)) << "waited for one more time-out";
    const Answer answer = at(1'000 + kGapMs, {}, true);
    EXPECT_LE(answer.skipped.size(), kRows);
    skipped += answer.skipped.size();
  }
  EXPECT_EQ(skipped, kMany);
}

// Each second one was lost, and the others are held.
TEST_P(Bounds, OfATurnMakeNobodyWaitForGapsBehindWhatIsHeld) {
  request_many();
  std::vector<Input> results;
  for (OrderNumber order = 1; order <= kMany; ++order)
    if (order % 2 == 0) results.push_back(of(Kind::kResult, order));
  EXPECT_EQ(at(1'100, results).held, kMany / 2);
  std::size_t skipped = 0;
  for (int batches = 0; batches < 100 && skipped < kMany / 2; ++batches) {
    ASSERT_TRUE(engine.has_more() || (engine.next_gap() && *engine.next_gap() <= UnixMs(1'000 + kGapMs)))
        << "waited for a second more";
    skipped += at(1'000 + kGapMs, {}, true).skipped.size();
  }
  EXPECT_EQ(skipped, kMany / 2);
}

TEST(Skip, FindsItsPlaceBehindHoweverManyThatAreHeld) {
  EnginePlayer engine;
  const TargetSet total = TargetSet::of(kTotal);
  std::vector<Input> requests = {{Kind::kRequest, 1, 1, total}};
  std::vector<Input> results;
  constexpr OrderNumber kHeld = 1'100;
  for (OrderNumber order = 1; order <= kHeld + 1; ++order) requests.push_back({Kind::kRequest, 0, order, total});
  for (OrderNumber order = 1; order <= kHeld; ++order) results.push_back({Kind::kResult, 0, order, total});
  (void)engine.play({UnixMs(1'000), false, requests});
  ASSERT_EQ(engine.play({UnixMs(1'100), false, results}).held, kHeld);
  const Answer answer = engine.play({UnixMs(1'200), false, {{Kind::kSkip, 0, kHeld + 1, total}}});
  EXPECT_EQ(answer.verdicts.front(), (Verdict{Outcome::kApplied, Reason::kNone}));
}

INSTANTIATE_TEST_SUITE_P(Lanes, Bounds, testing::Values(kStrict, kTotal),
                         [](const auto& target) { return target.param == kStrict ? "strict" : "total"; });

}  // namespace
}  // namespace reseq::orders
