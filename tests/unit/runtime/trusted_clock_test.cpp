#include "runtime/worker/trusted_clock.h"

#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr std::int64_t kJump = 1000;

class HandClock final : public Clock {
 public:
  [[nodiscard]] UnixMs now() const override { return UnixMs(kStart + wall); }
  [[nodiscard]] Milliseconds steady() const override { return Milliseconds(since); }
  std::int64_t wall = 0;
  std::int64_t since = 0;
};

struct WatchedClock {
  HandClock hand;
  TrustedClock clock{hand, Milliseconds(kJump)};
  // Milliseconds since the start that are trusted when both clocks show this.
  std::int64_t at(std::int64_t wall, std::int64_t steady) {
    hand.wall = wall;
    hand.since = steady;
    return clock.now().value() - kStart;
  }
};

TEST(TrustedClock, IsTheWallClockThatRunsEvenly) {
  WatchedClock watched;
  EXPECT_EQ(watched.at(0, 0), 0);
  EXPECT_EQ(watched.at(3'600'000, 3'600'000), 3'600'000);
  EXPECT_FALSE(watched.clock.frozen());
}

TEST(TrustedClock, GoesOnEvenlyOverAForwardStep) {
  WatchedClock watched;
  (void)watched.at(0, 0);
  EXPECT_EQ(watched.at(5 + kJump, 5), 5 + kJump);
  EXPECT_FALSE(watched.clock.frozen()) << "a small one is followed";
  EXPECT_EQ(watched.at(10 + 2 * kJump + 1, 10), 10 + kJump);
  EXPECT_TRUE(watched.clock.frozen());
  EXPECT_EQ(watched.at(20 + 2 * kJump + 1, 20), 20 + kJump);
  EXPECT_TRUE(watched.clock.frozen());
}

TEST(TrustedClock, TrustsAgainWhenTheStepIsUndone) {
  WatchedClock watched;
  (void)watched.at(0, 0);
  (void)watched.at(1'000'000, 5);
  EXPECT_EQ(watched.at(10, 10), 10);
  EXPECT_FALSE(watched.clock.frozen());
  (void)watched.at(1'000'000, 15);
  EXPECT_TRUE(watched.clock.frozen());
}

TEST(TrustedClock, FollowsSlowDriftHoweverFarItGoes) {
  WatchedClock watched;
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(watched.at(i * (1000 + kJump), i * 1000), i * (1000 + kJump)) << i;
}

TEST(TrustedClock, FollowsAStepBackAndItsCorrection) {
  WatchedClock watched;
  (void)watched.at(10'000'000, 0);
  EXPECT_EQ(watched.at(0, 5), 0);
  EXPECT_EQ(watched.at(10'000'010, 10), 10'000'010);
  EXPECT_FALSE(watched.clock.frozen());
}

}  // namespace
}  // namespace reseq::runtime
