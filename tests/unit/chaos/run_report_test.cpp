#include <gtest/gtest.h>

#include "tests/chaos/run/run.h"

namespace reseq::chaos {
namespace {

TEST(RunReport, IsVoidWithAViolationAndAProofThatTheBrokerToreATransaction) {
  const RunReport report{.violations = {"parked", "stands still"}, .torn_by_broker = {"markers of (a,0,COMMIT)"}};
  EXPECT_TRUE(report.is_void());
  EXPECT_EQ(void_lines(report),
            "void: torn by the broker: markers of (a,0,COMMIT)\n"
            "void: parked\n"
            "void: stands still\n");
}

TEST(RunReport, CountsWithoutAProofOrWithoutAViolation) {
  for (const RunReport& report :
       {RunReport{}, RunReport{.violations = {"parked"}}, RunReport{.torn_by_broker = {"markers of (a,0,COMMIT)"}}}) {
    EXPECT_FALSE(report.is_void());
    EXPECT_EQ(void_lines(report), "");
  }
}

TEST(RunReport, EndsWithTheSameLineWhateverTheBrokerTore) {
  const RunReport report{.violations = {"parked"}, .torn_by_broker = {"markers of (a,0,COMMIT)"}};
  EXPECT_EQ(last_line({.seed = 3}, report), last_line({.seed = 3}, {.violations = {"parked"}}));
}

}  // namespace
}  // namespace reseq::chaos
