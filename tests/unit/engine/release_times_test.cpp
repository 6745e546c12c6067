#include "model/release_times.h"

#include <gtest/gtest.h>
#include <numeric>

namespace reseq {
namespace {

void note(ReleaseTimes& times, std::int64_t ms, int often) {
  for (int i = 0; i < often; ++i) times.note(Milliseconds(ms));
}

TEST(ReleaseTimes, SayNothingBeforeAnythingWasReleased) {
  EXPECT_EQ(ReleaseTimes().p99(), Milliseconds(0));
}

TEST(ReleaseTimes, SayThePowerOfTwoThatOneOfAHundredReached) {
  ReleaseTimes times;
  note(times, 10, 99);
  note(times, 5'000, 1);
  EXPECT_EQ(times.p99(), Milliseconds(16));
  note(times, 5'000, 1);
  EXPECT_EQ(times.p99(), Milliseconds(8'192));
}

TEST(ReleaseTimes, TakeTimesThatNobodyCanHaveTaken) {
  ReleaseTimes times;
  times.note(Milliseconds(INT64_MIN));
  EXPECT_EQ(times.p99(), Milliseconds(1));
  note(times, INT64_MAX, 1);
  EXPECT_EQ(times.p99(), Milliseconds(std::int64_t{1} << 23U));
}

// A pipeline that got faster is not waited for as if it had not.
TEST(ReleaseTimes, ForgetWhatIsLongAgo) {
  ReleaseTimes times;
  note(times, 60'000, 100'000);
  EXPECT_EQ(times.p99(), Milliseconds(65'536));
  note(times, 10, 20'000);
  EXPECT_EQ(times.p99(), Milliseconds(16));
  const auto& counts = times.counts();
  EXPECT_LE(std::accumulate(counts.begin(), counts.end(), 0), 2'000);
}

}  // namespace
}  // namespace reseq
