#include "runtime/worker/bad_records.h"

#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

constexpr std::int64_t kSecondMs = 1000;

// A worker whose counts are added by hand, looked at once a second.
class WatchedCounts {
 public:
  // The next second passes with so many inputs, the last of them bad. The state told, or nothing.
  std::optional<AlarmState> second(std::uint64_t inputs, std::uint64_t bad,
                                   Reason reason = Reason::kMalformedSequence) {
    inputs_ += inputs;
    bad_[static_cast<std::size_t>(reason)] += bad;
    now_ += kSecondMs;
    const auto told = records_.look(Milliseconds(now_), inputs_, bad_);
    if (told) last_ = *told;
    return told ? std::optional(told->state) : std::nullopt;
  }
  // The first state told within so many equal seconds, and after how many; 0 = none.
  std::pair<int, AlarmState> seconds(int count, std::uint64_t inputs, std::uint64_t bad) {
    for (int i = 1; i <= count; ++i)
      if (const auto told = second(inputs, bad)) return {i, *told};
    return {0, AlarmState::kCleared};
  }
  [[nodiscard]] const BadRecordsAlarm& last() const { return last_; }
  [[nodiscard]] double per_s() const { return records_.per_s(); }

 private:
  BadRecords records_;
  BadRecordsAlarm last_;
  std::int64_t now_ = 1'000'000;
  std::uint64_t inputs_ = 500;
  CountsByReason bad_{};
};

using ToldAfter = std::pair<int, AlarmState>;
const ToldAfter kNothing{0, AlarmState::kCleared};

TEST(BadRecords, AreNoAlarmWhileTheyAreFew) {
  WatchedCounts watched;
  (void)watched.second(0, 0);
  EXPECT_EQ(watched.seconds(100, 1, 0), kNothing);
  EXPECT_EQ(watched.second(9, 9), std::nullopt) << "all are bad, but nine in a window are few";
  EXPECT_EQ(watched.seconds(10, 0, 0), kNothing);
  EXPECT_EQ(watched.seconds(100, 1000, 9), kNothing) << "below one in a hundred and below ten per second";
}

TEST(BadRecords, RaiseAnAlarmByTheirShare) {
  WatchedCounts watched;
  (void)watched.second(0, 0);
  EXPECT_EQ(watched.seconds(100, 200, 2), (ToldAfter{5, AlarmState::kRaised})) << "as soon as there are ten";
  EXPECT_DOUBLE_EQ(watched.last().share, 0.01);
  EXPECT_DOUBLE_EQ(watched.last().per_s, 1.0);
}

TEST(BadRecords, RaiseAnAlarmByTheirRate) {
  WatchedCounts watched;
  (void)watched.second(0, 0);
  EXPECT_EQ(watched.seconds(100, 100'000, 20), (ToldAfter{5, AlarmState::kRaised}));
  EXPECT_DOUBLE_EQ(watched.last().per_s, 10.0);
  EXPECT_DOUBLE_EQ(watched.last().share, 0.0002);
}

TEST(BadRecords, NameTheMostFrequentReasonOfTheWindow) {
  WatchedCounts watched;
  (void)watched.second(1000, 1000, Reason::kMisrouted);
  EXPECT_EQ(watched.seconds(10, 0, 0), kNothing) << "what was counted before the first look is not judged";
  EXPECT_EQ(watched.second(10, 5, Reason::kNoTarget), std::nullopt);
  EXPECT_EQ(watched.second(20, 11, Reason::kMissingId), AlarmState::kRaised);
  EXPECT_EQ(watched.last().reason, Reason::kMissingId);
}

TEST(BadRecords, RepeatAnAlarmThatLasts) {
  WatchedCounts watched;
  (void)watched.second(0, 0);
  EXPECT_EQ(watched.second(100, 100), AlarmState::kRaised);
  EXPECT_EQ(watched.seconds(100, 100, 100), (ToldAfter{60, AlarmState::kLasts}));
  EXPECT_DOUBLE_EQ(watched.last().per_s, 100.0);
  EXPECT_DOUBLE_EQ(watched.per_s(), 100.0);
  EXPECT_EQ(watched.seconds(100, 100, 100), (ToldAfter{60, AlarmState::kLasts}));
}

TEST(BadRecords, ClearAnAlarmWhenTheWindowIsQuietAndRaiseTheNext) {
  WatchedCounts watched;
  (void)watched.second(0, 0);
  EXPECT_EQ(watched.second(100, 50), AlarmState::kRaised);
  EXPECT_EQ(watched.seconds(100, 100, 0), (ToldAfter{10, AlarmState::kCleared}));
  EXPECT_EQ(watched.last().reason, Reason::kNone);
  EXPECT_EQ(watched.per_s(), 0);
  EXPECT_EQ(watched.seconds(100, 100, 0), kNothing) << "cleared once";
  EXPECT_EQ(watched.second(100, 50), AlarmState::kRaised);
}

TEST(BadRecords, DoNotFlapAroundTheThreshold) {
  WatchedCounts watched;
  (void)watched.second(0, 0);
  EXPECT_EQ(watched.seconds(10, 1000, 10).second, AlarmState::kRaised);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(watched.second(1000, 12), std::nullopt);
    EXPECT_EQ(watched.second(1000, 7), std::nullopt);
  }
  EXPECT_EQ(watched.seconds(15, 1000, 4).second, AlarmState::kCleared) << "below the half";
}

TEST(BadRecords, AreJudgedOncePerStepAndOverLongerPausesAsAWhole) {
  BadRecords records;
  CountsByReason bad{};
  EXPECT_FALSE(records.look(Milliseconds(0), 0, bad));
  bad[static_cast<std::size_t>(Reason::kNoTarget)] = 300;
  EXPECT_FALSE(records.look(Milliseconds(999), 30'000, bad));
  const auto told = records.look(Milliseconds(30'000), 30'000, bad);
  ASSERT_TRUE(told) << "one in a hundred";
  EXPECT_DOUBLE_EQ(told->per_s, 10.0);
}

}  // namespace
}  // namespace reseq::runtime
