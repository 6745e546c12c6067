// Each precaution by its absence, on the real broker: the fault that it is for is played twice, with it and without it.
// With it nothing is wrong; without it something must be, or the precaution is worth nothing.
#include <gtest/gtest.h>
#include <iostream>
#include <string>

#include "tests/guards/trial.h"

namespace reseq::test {
namespace {

class GuardByAbsence : public testing::TestWithParam<Fault> {};

TEST_P(GuardByAbsence, ShowsInTheFault) {
  const Outcome& guarded = outcome_of(GetParam(), "");
  EXPECT_EQ(guarded.failed, "");
  EXPECT_EQ(guarded.wrong, "");
  const Outcome& unguarded = outcome_of(GetParam(), GetParam().guards);
  EXPECT_EQ(unguarded.failed, "");
  EXPECT_NE(unguarded.wrong, "") << "nothing was wrong without " << GetParam().guards;
  std::cout << "without " << GetParam().guards << ": " << unguarded.wrong << '\n';
}

INSTANTIATE_TEST_SUITE_P(Faults, GuardByAbsence, testing::ValuesIn(faults()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace reseq::test
