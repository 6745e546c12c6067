#include "runtime/worker/pace.h"

#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

TEST(Pace, JudgesByTheLastIntervalAlone) {
  Pace pace;
  pace.begin(Milliseconds(0), 1'000'000);
  EXPECT_EQ(pace.look(Milliseconds(5000), 900'000), 45) << "20,000 per second";
  // A slow minute in between says nothing about what comes: since the start it would be 29 s.
  EXPECT_EQ(pace.look(Milliseconds(65'000), 800'000), 480);
  EXPECT_EQ(pace.look(Milliseconds(70'000), 300'000), 3) << "100,000 per second";
}

TEST(Pace, BeginsInTheMiddleOfALogAndOfAnInterval) {
  // A restore that begins at offset 750,000 of 1,000,000, looked at for the first time after 2 s.
  Pace pace;
  pace.begin(Milliseconds(10'000), 1'000'000 - 750'000);
  EXPECT_EQ(pace.look(Milliseconds(12'000), 1'000'000 - 800'000), 8) << "25,000 per second, not 400,000";
}

TEST(Pace, DoesNotKnowWhenNothingMovesOrAsMuchIsAdded) {
  Pace pace;
  pace.begin(Milliseconds(0), 500);
  EXPECT_EQ(pace.look(Milliseconds(5000), 500), std::nullopt);
  EXPECT_EQ(pace.look(Milliseconds(10'000), 700), std::nullopt);
  EXPECT_EQ(pace.look(Milliseconds(10'000), 600), std::nullopt) << "no time went by";
  EXPECT_EQ(pace.look(Milliseconds(15'000), 599), 2995);
}

TEST(Pace, RoundsUpAndEndsAtNothing) {
  Pace pace;
  pace.begin(Milliseconds(0), 1001);
  EXPECT_EQ(pace.look(Milliseconds(1000), 1), 1);
  EXPECT_EQ(pace.look(Milliseconds(2000), 0), 0);
}

constexpr Partition kFirst{3};
constexpr Partition kSecond{4};

TEST(CatchUp, TellsOfWhatTakesLongerThanToTheNextLook) {
  CatchUp catch_up;
  EXPECT_FALSE(catch_up.look(Milliseconds(1000), {{kFirst, 0, 100'000}})) << "nothing to compare with";
  // 40,000 decided in 5 s while 10,000 were added.
  const auto behind = catch_up.look(Milliseconds(6000), {{kFirst, 40'000, 70'000}});
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->behind, std::vector<Partition>{kFirst});
  EXPECT_EQ(behind->left, 70'000);
  EXPECT_EQ(behind->decided_per_s, 8000);
  EXPECT_EQ(behind->seconds_left, 12) << "70,000 left, 6,000 fewer per second";
  EXPECT_EQ(behind->seconds, 5);
  const auto done = catch_up.look(Milliseconds(11'000), {{kFirst, 110'000, 3000}});
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->behind.empty());
  EXPECT_EQ(done->seconds, 10);
  EXPECT_FALSE(catch_up.look(Milliseconds(16'000), {{kFirst, 150'000, 3000}})) << "told once";
}

TEST(CatchUp, JudgesTheTimeOfAllPartitionsTogetherBecauseTheyTakeTurns) {
  CatchUp catch_up;
  EXPECT_FALSE(catch_up.look(Milliseconds(0), {{kFirst, 0, 60'000}, {kSecond, 0, 60'000}}));
  const auto behind = catch_up.look(Milliseconds(5000), {{kFirst, 50'000, 10'000}, {kSecond, 0, 60'000}});
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->behind, std::vector<Partition>{kSecond}) << "the other one is done before the next look";
  EXPECT_EQ(behind->seconds_left, 7) << "70,000 left, 10,000 per second";
}

TEST(CatchUp, DoesNotMindWhatIsDoneAtOnce) {
  CatchUp catch_up;
  EXPECT_FALSE(catch_up.look(Milliseconds(0), {{kFirst, 0, 50'000}}));
  EXPECT_FALSE(catch_up.look(Milliseconds(5000), {{kFirst, 60'000, 60'000}})) << "as much waits as was done since";
  EXPECT_FALSE(catch_up.look(Milliseconds(10'000), {{kFirst, 60'000, kFarBehindMin}}))
      << "a few in an open transaction";
}

TEST(CatchUp, SaysThatItDoesNotComeNearerAndComparesAnewAfterATakeover) {
  CatchUp catch_up;
  EXPECT_FALSE(catch_up.look(Milliseconds(0), {{kFirst, 0, 5000}}));
  const auto stuck = catch_up.look(Milliseconds(5000), {{kFirst, 0, 5000}});
  ASSERT_TRUE(stuck);
  EXPECT_EQ(stuck->decided_per_s, 0);
  EXPECT_FALSE(stuck->seconds_left);
  EXPECT_FALSE(catch_up.look(Milliseconds(10'000), {{kFirst, 0, 5000}, {kSecond, 9000, 9000}}));
  EXPECT_TRUE(catch_up.look(Milliseconds(15'000), {{kFirst, 0, 5000}, {kSecond, 9000, 9000}}));
}

TEST(CatchUp, ForgetsABacklogWithItsPartition) {
  CatchUp catch_up;
  EXPECT_FALSE(catch_up.look(Milliseconds(0), {{kFirst, 0, 5000}}));
  EXPECT_TRUE(catch_up.look(Milliseconds(5000), {{kFirst, 0, 5000}}));
  EXPECT_FALSE(catch_up.look(Milliseconds(10'000), {}));
  EXPECT_FALSE(catch_up.look(Milliseconds(3'610'000), {{kSecond, 10, 0}}));
  EXPECT_FALSE(catch_up.look(Milliseconds(3'615'000), {{kSecond, 20, 0}})) << "it was never behind";
}

}  // namespace
}  // namespace reseq::runtime
