#include "runtime/worker/older_requests_alarm.h"

#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

constexpr int kStepsOfTheWindow =
    static_cast<int>(OlderRequestsAlarm::kWindow.value() / OlderRequestsAlarm::kStep.value());

// A worker whose requests are added by hand, looked at every ten seconds.
class WatchedRequests {
 public:
  WatchedRequests() { (void)look(0); }

  // Ten seconds pass with so many requests, the last of them older than what is known. The state told, or nothing.
  std::optional<AlarmState> step(std::size_t documents, std::uint64_t requests, std::uint64_t older) {
    requests_ += requests;
    older_ += older;
    now_ += OlderRequestsAlarm::kStep.value();
    return look(documents);
  }
  // The first state told within so many equal steps, and after how many; 0 = none.
  std::pair<int, AlarmState> steps(int count, std::size_t documents, std::uint64_t requests, std::uint64_t older) {
    for (int i = 1; i <= count; ++i)
      if (const auto told = step(documents, requests, older)) return {i, *told};
    return {0, AlarmState::kCleared};
  }
  [[nodiscard]] const OlderRequestsAlarm::Told& last() const { return last_; }

 private:
  std::optional<AlarmState> look(std::size_t documents) {
    EXPECT_TRUE(alarm_.is_due(Milliseconds(now_)));
    const auto told = alarm_.look(Milliseconds(now_), documents, older_, requests_);
    EXPECT_FALSE(alarm_.is_due(Milliseconds(now_ + OlderRequestsAlarm::kStep.value() - 1)));
    if (told) last_ = *told;
    return told ? std::optional(told->state) : std::nullopt;
  }

  OlderRequestsAlarm alarm_;
  OlderRequestsAlarm::Told last_;
  std::int64_t now_ = 1'000'000;
  std::uint64_t requests_ = 70'000;  // of the time before it was looked at
  std::uint64_t older_ = 60'000;
};

using ToldAfter = std::pair<int, AlarmState>;
const ToldAfter kSilence{0, AlarmState::kCleared};

TEST(OlderRequestsAlarm, IsRaisedOnceWhenACounterStartedAgainAndThenToldOnceAMinute) {
  WatchedRequests watched;
  EXPECT_EQ(watched.steps(20, 0, 100, 0), kSilence);
  EXPECT_EQ(watched.step(49, 100, 100), std::nullopt);
  EXPECT_EQ(watched.step(50, 100, 100), AlarmState::kRaised);
  EXPECT_EQ(watched.last().documents, 50U);
  EXPECT_DOUBLE_EQ(watched.last().per_s, 200.0 / 220);
  EXPECT_DOUBLE_EQ(watched.last().share, 200.0 / 2'200);
  EXPECT_EQ(watched.steps(100, 150, 100, 100), (ToldAfter{6, AlarmState::kLasts}));
  EXPECT_EQ(watched.last().documents, 150U);
  EXPECT_EQ(watched.steps(100, 250, 100, 100), (ToldAfter{6, AlarmState::kLasts}));
}

TEST(OlderRequestsAlarm, IsNoneWhenFewOfManyRequestsAreLate) {
  WatchedRequests watched;
  EXPECT_EQ(watched.steps(2 * kStepsOfTheWindow, 500, 10'000, 99), kSilence);
  EXPECT_EQ(watched.steps(2 * kStepsOfTheWindow, 49, 100, 100), kSilence) << "or all requests of few documents";
}

TEST(OlderRequestsAlarm, GoesOnWhileASlowProducerPauses) {
  WatchedRequests watched;
  EXPECT_EQ(watched.step(60, 60, 60), AlarmState::kRaised);
  for (int i = 1; i < kStepsOfTheWindow; ++i) {
    const auto told = watched.step(60, 0, 0);
    EXPECT_EQ(told, i % 6 == 0 ? std::optional(AlarmState::kLasts) : std::nullopt) << i;
  }
}

TEST(OlderRequestsAlarm, IsClearedWhenTheDocumentsGetNewerRequestsAgain) {
  WatchedRequests watched;
  EXPECT_EQ(watched.step(60, 60, 60), AlarmState::kRaised);
  EXPECT_EQ(watched.step(25, 60, 0), std::nullopt) << "more than half of them lack one";
  EXPECT_EQ(watched.step(24, 60, 0), AlarmState::kCleared);
  EXPECT_EQ(watched.steps(100, 24, 60, 0), kSilence) << "cleared once";
  EXPECT_EQ(watched.step(50, 60, 60), AlarmState::kRaised) << "the next one";
}

TEST(OlderRequestsAlarm, IsClearedWhenOlderRequestsAreFewAmongManyOthers) {
  WatchedRequests watched;
  EXPECT_EQ(watched.step(60, 60, 60), AlarmState::kRaised);
  EXPECT_EQ(watched.step(60, 11'000, 0), std::nullopt) << "more than half a percent";
  EXPECT_EQ(watched.step(60, 1'000, 0), AlarmState::kCleared);
}

}  // namespace
}  // namespace reseq::runtime
