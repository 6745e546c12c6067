// A partition that stands still is seen, whether brokers answer now and then or not at all.
#include "tests/chaos/run/stalls.h"

#include <gtest/gtest.h>

namespace reseq::chaos {
namespace {

using std::chrono::seconds;

constexpr Standing kIdle{.position = 7, .waits = false};
constexpr Standing kStands{.position = 7, .waits = true};

Standing reads(std::int64_t position) {
  return {.position = position, .waits = true};
}

TEST(Stalls, CountsFromTheLastProgressOfThePartition) {
  Stalls stalls(2, seconds(100));
  stalls.take({reads(1), reads(10)}, seconds(101));
  stalls.take({reads(1), reads(11)}, seconds(110));
  const Stall stall = stalls.longest(seconds(111));
  EXPECT_EQ(stall.partition, 0);
  EXPECT_EQ(stall.lasts, seconds(10));
  stalls.take({reads(2), reads(11)}, seconds(112));
  EXPECT_EQ(stalls.longest(seconds(113)).partition, 1);
  EXPECT_EQ(stalls.longest(seconds(113)).lasts, seconds(3));
}

TEST(Stalls, IsNoneWhereNothingWaits) {
  Stalls stalls(1, seconds(0));
  for (int now = 1; now <= 100; ++now) stalls.take({kIdle}, seconds(now));
  EXPECT_EQ(stalls.longest(seconds(101)).lasts, seconds(1));
}

// The last answer in front of a stall does not know of it yet: nobody answers for long, and then it stands as it stood.
TEST(Stalls, AreNotExcusedByQuestionsThatFail) {
  Stalls stalls(1, seconds(0));
  stalls.take({reads(7)}, seconds(1));
  EXPECT_EQ(stalls.longest(seconds(40)).lasts, seconds(39));
  stalls.take({kStands}, seconds(41));
  EXPECT_EQ(stalls.longest(seconds(42)).lasts, seconds(41)) << "one answer between two times without is no progress";
  EXPECT_EQ(stalls.longest(seconds(42)).unanswered, seconds(1));
}

TEST(Stalls, EndWithTheFirstAnswerThatShowsProgress) {
  Stalls stalls(1, seconds(0));
  stalls.take({reads(7)}, seconds(1));
  stalls.take({reads(8)}, seconds(41));
  EXPECT_EQ(stalls.longest(seconds(42)).lasts, seconds(1));
}

TEST(Stalls, LastWhileNobodyAnswersAndSaySo) {
  Stalls stalls(3, seconds(5));
  const Stall stall = stalls.longest(seconds(50));
  EXPECT_EQ(stall.lasts, seconds(45));
  EXPECT_EQ(stall.unanswered, seconds(45));
}

TEST(Stalls, BeginAnewForAll) {
  Stalls stalls(2, seconds(0));
  stalls.take({kStands, kStands}, seconds(1));
  stalls.begin_anew(seconds(60));
  EXPECT_EQ(stalls.longest(seconds(61)).lasts, seconds(1));
  EXPECT_EQ(stalls.longest(seconds(61)).unanswered, seconds(1));
}

}  // namespace
}  // namespace reseq::chaos
