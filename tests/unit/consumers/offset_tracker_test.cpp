// The offset that may be committed while records finish in any order.
#include "consumers/stage/offset_tracker.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace reseq::stage {
namespace {

TEST(OffsetTracker, CommitsUpToTheLowestUnfinishedRecord) {
  OffsetTracker tracker(Offset(10));
  for (const int offset : {10, 11, 12}) tracker.start(Offset(offset));
  EXPECT_TRUE(tracker.finish(Offset(12)));
  EXPECT_TRUE(tracker.finish(Offset(11)));
  EXPECT_EQ(tracker.committable(), Offset(10));
  EXPECT_TRUE(tracker.finish(Offset(10)));
  EXPECT_EQ(tracker.committable(), Offset(13));
}

TEST(OffsetTracker, PassesControlRecordsOnlyWhenNothingIsInFlight) {
  OffsetTracker tracker(Offset(0));
  tracker.start(Offset(0));
  tracker.reached(Offset(2));
  EXPECT_EQ(tracker.committable(), Offset(0));
  tracker.finish(Offset(0));
  EXPECT_EQ(tracker.committable(), Offset(2));
}

TEST(OffsetTracker, KnowsNoOffsetThatIsNotInFlight) {
  OffsetTracker tracker(Offset(5));
  tracker.start(Offset(7));
  EXPECT_FALSE(tracker.finish(Offset(5)));
  EXPECT_TRUE(tracker.finish(Offset(7)));
  EXPECT_FALSE(tracker.finish(Offset(7)));
}

// A step of a random run: the next record is started (gaps are transaction markers), or a random one is finished.
TEST(OffsetTracker, NeverPassesUnfinishedWorkAndNeverFallsInAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::int64_t next = static_cast<std::int64_t>(random() % 1000);
    OffsetTracker tracker{Offset(next)};
    std::vector<std::int64_t> open;
    std::int64_t last = next;
    for (int step = 0; step < 300; ++step) {
      if (open.empty() || random() % 2 == 0) {
        next += static_cast<std::int64_t>(random() % 3);
        tracker.start(Offset(next));
        open.push_back(next++);
      } else {
        const std::size_t chosen = random() % open.size();
        ASSERT_TRUE(tracker.finish(Offset(open[chosen])));
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
      const std::int64_t expected = open.empty() ? next : *std::min_element(open.begin(), open.end());
      ASSERT_EQ(tracker.committable(), Offset(expected)) << "seed " << seed << " step " << step;
      ASSERT_GE(expected, last) << "seed " << seed << " step " << step;
      ASSERT_EQ(tracker.in_flight(), open.size());
      last = expected;
    }
  }
}

}  // namespace
}  // namespace reseq::stage
