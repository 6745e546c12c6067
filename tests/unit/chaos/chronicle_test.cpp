// A complaint is a violation unless a fault of the moment explains it.
#include "tests/chaos/nemesis/chronicle.h"

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace reseq::chaos {
namespace {

TEST(Chronicle, CountsAComplaintThatNothingExcuses) {
  const test::TempDir folder;
  Chronicle chronicle(folder.path() + "/faults.log");
  const auto excuse = chronicle.excuse({"r1: ", "checkpoint=failed"});
  chronicle.complain("r1: level=error checkpoint=failed");
  EXPECT_TRUE(chronicle.violations().empty());
  chronicle.complain("r2: level=error checkpoint=failed");
  EXPECT_EQ(chronicle.violations().size(), 1U);
  chronicle.complain("r1: level=error parked");
  EXPECT_EQ(chronicle.violations().size(), 2U) << "not what the fault explains";
  chronicle.end_excuse(excuse);
  chronicle.complain("r1: level=error checkpoint=failed, told late");
  EXPECT_EQ(chronicle.violations().size(), 2U);
}

TEST(Chronicle, ExcusesNoViolation) {
  const test::TempDir folder;
  Chronicle chronicle(folder.path() + "/faults.log");
  (void)chronicle.excuse({"r1"});
  chronicle.violation("r1 lost a record");
  EXPECT_EQ(chronicle.violations().size(), 1U);
}

}  // namespace
}  // namespace reseq::chaos
