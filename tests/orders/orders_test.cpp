// The engine says of every random history what the lane table says, and what that says is right.
#include <gtest/gtest.h>
#include <iostream>

#include "tests/orders/playing.h"
#include "tests/orders/world.h"
#include "tests/orders/wrong_lanes.h"

namespace reseq::orders {
namespace {

TEST(OrderedTargets, GetWhatTheLaneTableSays) {
  Hits hits;
  std::set<TableRow> met;
  const auto failure = check(suite_amount(), [&](const History& history) {
    LaneTable table;
    EnginePlayer engine;
    World world(history, table, &engine, &hits);
    const std::string violation = world.play();
    met.insert(engine.met().begin(), engine.met().end());
    return violation;
  });
  ASSERT_FALSE(failure) << "case " << failure->after_cases << "\n" << describe(failure->history) << failure->violation;
  std::cout << "held " << hits.held << ", released " << hits.released << ", skipped " << hits.skipped << ", together "
            << hits.skipped_together << ", ended " << hits.ended << std::endl;
  for (const std::uint64_t hit : {hits.held, hits.released, hits.skipped, hits.skipped_together, hits.ended})
    EXPECT_GT(hit, 100U);
  for (const TableRow row : {TableRow::kO1, TableRow::kO2, TableRow::kO3, TableRow::kO4, TableRow::kO5})
    EXPECT_TRUE(met.contains(row)) << "table row " << name_of(row) << " was never met";
}

// A check that cannot fail is a defect.
class WrongLane : public testing::TestWithParam<std::size_t> {};

TEST_P(WrongLane, IsNoticed) {
  const NamedWrongLane& wrong = wrong_lanes()[GetParam()];
  constexpr int kCasesPerSeed = 3'000;
  for (const std::uint64_t seed : {7U, 8U, 9U}) {
    const auto failure = check({kCasesPerSeed, seed}, [&](const History& history) {
      LaneTable table;
      const auto rival = wrong.make();
      return World(history, table, rival.get()).play();
    });
    ASSERT_TRUE(failure) << "a lane that " << wrong.name << " passed " << kCasesPerSeed << " cases of seed " << seed;
    if (seed == 7U)
      std::cout << "a lane that " << wrong.name << " is noticed in case " << failure->after_cases << " by "
                << failure->history.size() << " steps" << std::endl;
  }
}

std::string test_name(std::string_view sentence) {
  std::string name;
  for (const char each : sentence)
    if (each >= 'a' && each <= 'z') name += each;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Sensitivity, WrongLane, testing::Range<std::size_t>(0, wrong_lanes().size()),
                         [](const auto& parameter) { return test_name(wrong_lanes()[parameter.param].name); });

}  // namespace
}  // namespace reseq::orders
