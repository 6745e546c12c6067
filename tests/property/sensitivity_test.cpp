// A check that cannot fail is a defect: the oracle notices every wrong engine within a bounded number of cases, and the
// case that shows it is small.
#include <gtest/gtest.h>
#include <iostream>

#include "tests/property/checking.h"
#include "tests/property/wrong_engines.h"

namespace reseq::property {
namespace {

constexpr int kCasesPerSeed = 4'000;
constexpr std::uint64_t kFirstSeed = 7;
constexpr std::uint64_t kSeeds = 5;

// Whatever the seed, the wrong engine is noticed.
void expect_noticed(const NamedWrongEngine& wrong, Judged judged) {
  WrongEngine engine = wrong.engine;
  if (judged == Judged::kEnd) engine.judged = judged;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    const auto failure = check({kCasesPerSeed, seed, false}, engine, nullptr);
    ASSERT_TRUE(failure.has_value()) << "an engine that " << wrong.name << " passed " << kCasesPerSeed
                                     << " cases of seed " << seed;
    if (seed == kFirstSeed)
      std::cout << "an engine that " << wrong.name << " is noticed in case " << failure->after_cases << ": "
                << failure->violation << std::endl;
  }
}

class SpoilingEngine : public testing::TestWithParam<std::size_t> {};
class UntruthfulEngine : public testing::TestWithParam<std::size_t> {};

TEST_P(SpoilingEngine, IsNoticedAsItDecides) {
  expect_noticed(spoiling_engines()[GetParam()], Judged::kAll);
}

// The end is judged for itself: it shows a document left wrong even to an oracle that sees nothing else.
TEST_P(SpoilingEngine, IsNoticedByTheEndAlone) {
  expect_noticed(spoiling_engines()[GetParam()], Judged::kEnd);
}

TEST_P(UntruthfulEngine, IsNoticedAsItDecides) {
  expect_noticed(untruthful_engines()[GetParam()], Judged::kAll);
}

std::string test_name(std::string_view sentence) {
  std::string name;
  for (const char each : sentence)
    if (each >= 'a' && each <= 'z') name += each;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Sensitivity, SpoilingEngine, testing::Range<std::size_t>(0, spoiling_engines().size()),
                         [](const auto& parameter) { return test_name(spoiling_engines()[parameter.param].name); });
INSTANTIATE_TEST_SUITE_P(Sensitivity, UntruthfulEngine, testing::Range<std::size_t>(0, untruthful_engines().size()),
                         [](const auto& parameter) { return test_name(untruthful_engines()[parameter.param].name); });

TEST(Shrinking, LeavesOnlyWhatShowsTheFault) {
  for (const NamedWrongEngine& wrong : spoiling_engines()) {
    if (wrong.name != "forwards without one of the targets") continue;
    const auto failure = check({kCasesPerSeed, kFirstSeed, true}, wrong.engine, nullptr);
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->script.steps.size(), 1U) << failure->script << "\n" << failure->story;
    return;
  }
  FAIL() << "the wrong engine of this test is gone";
}

}  // namespace
}  // namespace reseq::property
