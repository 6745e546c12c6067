// Pauses between tries: longer each time, within a bound, never the same for all.
#include "consumers/remote/back_off.h"

#include <gtest/gtest.h>
#include <set>

namespace reseq::remote {
namespace {

using std::chrono::milliseconds;

TEST(BackOff, DoublesUpToItsBound) {
  BackOff back_off({.first = milliseconds(100), .longest = milliseconds(1'000)});
  for (const int whole : {100, 200, 400, 800, 1'000, 1'000}) {
    const milliseconds pause = back_off.next(12'345);
    EXPECT_GE(pause, milliseconds(whole / 2));
    EXPECT_LE(pause, milliseconds(whole));
  }
}

TEST(BackOff, BeginsAnewAfterASuccess) {
  BackOff back_off({.first = milliseconds(100), .longest = milliseconds(10'000)});
  for (int i = 0; i < 5; ++i) (void)back_off.next(0);
  back_off.succeeded();
  EXPECT_LE(back_off.next(99), milliseconds(100));
}

TEST(BackOff, StaysWithinItsBoundForEver) {
  BackOff back_off({.first = milliseconds(100), .longest = milliseconds(10'000)});
  for (int i = 0; i < 200; ++i) (void)back_off.next(1);
  EXPECT_GE(back_off.next(1), milliseconds(5'000));
  EXPECT_LE(back_off.next(~std::uint64_t{0}), milliseconds(10'000));
}

TEST(BackOff, DiffersByTheNumberDrawn) {
  std::set<std::int64_t> pauses;
  for (std::uint64_t random = 0; random < 40; ++random)
    pauses.insert(BackOff({.first = milliseconds(100), .longest = milliseconds(1'000)}).next(random).count());
  EXPECT_GT(pauses.size(), 20U);
  EXPECT_EQ(*pauses.begin(), 50);
}

}  // namespace
}  // namespace reseq::remote
