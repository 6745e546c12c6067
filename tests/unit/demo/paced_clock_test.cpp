// How late the workers of the demo are, on a machine that is slow.
#include "demo/pipeline/paced_clock.h"

#include <gtest/gtest.h>

namespace reseq::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Steps of `each` for `all`, with a record at the end of each or without; how long that was by the clock.
PacedClock::Duration pass(PacedClock& clock, milliseconds all, milliseconds each, bool records) {
  const PacedClock::Duration before = clock.now();
  for (milliseconds passed{0}; passed < all; passed += each) clock.advance(each, records);
  return clock.now() - before;
}

PacedClock::Duration carry(PacedClock& clock, milliseconds all, milliseconds each) {
  return pass(clock, all, each, true);
}

PacedClock::Duration wait(PacedClock& clock, milliseconds all) {
  return pass(clock, all, milliseconds(10), false);
}

TEST(PacedClock, IsThatOfTheDayWhereThePaceIsKept) {
  PacedClock clock{milliseconds(50)};
  EXPECT_EQ(carry(clock, seconds(10), milliseconds(50)), seconds(10));
  EXPECT_EQ(carry(clock, seconds(10), milliseconds(5)), seconds(10));
}

TEST(PacedClock, IsThatOfTheDayWithoutAPace) {
  PacedClock clock{milliseconds(0)};
  EXPECT_EQ(carry(clock, seconds(10), milliseconds(500)), seconds(10));
}

TEST(PacedClock, LetsAsManyRecordsOvertakeOnASlowMachineAsOnAFastOne) {
  PacedClock clock{milliseconds(50)};
  carry(clock, seconds(2), milliseconds(500));  // what it may pass anyway
  EXPECT_EQ(carry(clock, seconds(20), milliseconds(500)), 40 * milliseconds(50));
}

TEST(PacedClock, StandsStillWhileTheMachineDoes) {
  PacedClock clock{milliseconds(50)};
  carry(clock, seconds(20), milliseconds(500));
  EXPECT_LE(wait(clock, seconds(9)), milliseconds(50));
  EXPECT_EQ(carry(clock, seconds(20), milliseconds(500)), 40 * milliseconds(50));
}

TEST(PacedClock, GoesOnWhenNobodySaysThatNoMoreRecordsCome) {
  PacedClock clock{milliseconds(50)};
  carry(clock, seconds(20), milliseconds(500));
  EXPECT_GE(wait(clock, seconds(15)), seconds(5));
}

TEST(PacedClock, GoesOnWhenNoMoreRecordsCome) {
  PacedClock clock{milliseconds(50)};
  carry(clock, seconds(20), milliseconds(500));
  clock.end();
  const PacedClock::Duration first = wait(clock, seconds(1));
  EXPECT_LE(first, milliseconds(50));
  EXPECT_GE(first + wait(clock, seconds(5)), seconds(5));
}

TEST(PacedClock, LosesNoTimeAtTheEndOfAFastRun) {
  PacedClock clock{milliseconds(50)};
  carry(clock, seconds(10), milliseconds(10));
  clock.end();
  EXPECT_EQ(wait(clock, seconds(5)), seconds(5));
}

}  // namespace
}  // namespace reseq::demo
