// A check that cannot fail is a defect: whatever the seed, every wrong journal is noticed within a bounded number of
// cases.
#include "tests/journal/wrong_journals.h"

#include <gtest/gtest.h>
#include <iostream>

#include "tests/journal/checking.h"
#include "tests/journal/world.h"

namespace reseq::journal {
namespace {

constexpr int kCasesPerSeed = 4'000;
constexpr std::uint64_t kFirstSeed = 7;
constexpr std::uint64_t kSeeds = 3;

std::optional<Failure> look_for(const NamedWrongJournal& wrong, const Amount& amount) {
  return check(amount, [&](const History& history) -> std::optional<Wrong> {
    JobTable table(rules_of(history));
    const auto rival = wrong.make(rules_of(history));
    World world(history, table, rival.get());
    const std::string violation = world.play();
    if (violation.empty()) return std::nullopt;
    return Wrong{violation, world.story()};
  });
}

class WrongJournal : public testing::TestWithParam<std::size_t> {};

TEST_P(WrongJournal, IsNoticed) {
  const NamedWrongJournal& wrong = wrong_journals()[GetParam()];
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    const auto failure = look_for(wrong, {kCasesPerSeed, seed, false});
    ASSERT_TRUE(failure.has_value()) << "a journal that " << wrong.name << " passed " << kCasesPerSeed
                                     << " cases of seed " << seed;
    if (seed == kFirstSeed)
      std::cout << "a journal that " << wrong.name << " is noticed in case " << failure->after_cases << std::endl;
  }
}

std::string test_name(std::string_view sentence) {
  std::string name;
  for (const char each : sentence)
    if (each >= 'a' && each <= 'z') name += each;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Sensitivity, WrongJournal, testing::Range<std::size_t>(0, wrong_journals().size()),
                         [](const auto& parameter) { return test_name(wrong_journals()[parameter.param].name); });

TEST(ShrinkingHistories, LeavesOnlyWhatShowsTheFault) {
  for (const NamedWrongJournal& wrong : wrong_journals()) {
    if (wrong.name != "dispatches before the date") continue;
    const auto failure = look_for(wrong, {kCasesPerSeed, kFirstSeed, true});
    ASSERT_TRUE(failure.has_value());
    EXPECT_LE(failure->history.steps.size(), 2U) << *failure;
    return;
  }
  FAIL() << "the wrong journal of this test is gone";
}

}  // namespace
}  // namespace reseq::journal
