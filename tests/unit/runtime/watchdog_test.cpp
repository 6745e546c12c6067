#include "runtime/process/watchdog.h"

#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

TEST(Watchdog, BitesAfterLooksWithoutAStepAndNotBefore) {
  Watchdog watchdog(3);
  EXPECT_FALSE(watchdog.look(7));
  EXPECT_FALSE(watchdog.look(7));
  EXPECT_FALSE(watchdog.look(7));
  EXPECT_TRUE(watchdog.look(7));
}

TEST(Watchdog, StartsAnewWithEveryStep) {
  Watchdog watchdog(2);
  for (std::uint64_t steps = 1; steps < 100; ++steps) {
    EXPECT_FALSE(watchdog.look(steps));
    EXPECT_FALSE(watchdog.look(steps));
  }
}

}  // namespace
}  // namespace reseq::runtime
