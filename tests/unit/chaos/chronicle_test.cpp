// A complaint is a violation unless a fault of the moment explains it.
#include "tests/chaos/nemesis/chronicle.h"

#include <gtest/gtest.h>

#include "tests/chaos/nemesis/crew.h"
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

// The words of librdkafka 2.0.2.
TEST(Chronicle, ExcusesWhatOthersSeeOfALeaderThatIsGoneAndNoMore) {
  const test::TempDir folder;
  Chronicle chronicle(folder.path() + "/faults.log");
  (void)chronicle.excuse(kLeaderLost);
  const std::string told = "r2: level=error librdkafka=\"FAIL\" text=\"[thrd:";
  chronicle.complain(told +
                     "GroupCoordinator]: GroupCoordinator: 127.0.0.1:51849: 1 request(s) timed out: disconnect (after "
                     "9253ms in state UP)\"");
  EXPECT_TRUE(chronicle.violations().empty());
  chronicle.complain(told +
                     "TxnCoordinator]: TxnCoordinator: 127.0.0.1:51849: 1 request(s) timed out: disconnect (after "
                     "9253ms in state UP)\"");
  chronicle.complain(told + "GroupCoordinator]: GroupCoordinator: 127.0.0.1:51849: Connect failed\"");
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
