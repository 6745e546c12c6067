#include "runtime/clock_watch.h"

#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr std::int64_t kJump = 1000;

struct Watched {
  ClockWatch watch{Milliseconds(kJump)};
  // Both clocks since their starts.
  ClockWatch::Seen at(std::int64_t wall, std::int64_t steady) {
    return watch.look(UnixMs(kStart + wall), Milliseconds(steady));
  }
};

TEST(ClockWatch, TrustsAClockThatRunsEvenly) {
  Watched clock;
  EXPECT_EQ(clock.at(0, 0).now, UnixMs(kStart));
  EXPECT_EQ(clock.at(3'600'000, 3'600'000).now, UnixMs(kStart + 3'600'000));
}

TEST(ClockWatch, FreezesAtAForwardStepAndSaysSoOnce) {
  Watched clock;
  (void)clock.at(0, 0);
  const auto stepped = clock.at(5 + kJump + 1, 5);
  EXPECT_EQ(stepped.now, std::nullopt);
  EXPECT_TRUE(stepped.stepped);
  const auto later = clock.at(10 + kJump + 1, 10);
  EXPECT_EQ(later.now, std::nullopt);
  EXPECT_FALSE(later.stepped);
}

TEST(ClockWatch, GoesOnWhenTheStepIsUndone) {
  Watched clock;
  (void)clock.at(0, 0);
  (void)clock.at(1'000'000, 5);
  EXPECT_EQ(clock.at(10, 10).now, UnixMs(kStart + 10));
  EXPECT_TRUE(clock.at(1'000'000, 15).stepped);  // again
}

TEST(ClockWatch, FollowsSlowDriftHoweverFarItGoes) {
  Watched clock;
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_TRUE(clock.at(i * (1000 + kJump), i * 1000).now) << i;
}

TEST(ClockWatch, TakesTheCorrectionOfAStepBackForNoStep) {
  Watched clock;
  (void)clock.at(10'000'000, 0);
  EXPECT_TRUE(clock.at(0, 5).now);
  EXPECT_TRUE(clock.at(10'000'010, 10).now);
}

}  // namespace
}  // namespace reseq::runtime
