// The pipeline is down over a weekend, by a simulated clock: what waits and what is under way is lost, tried and lost
// again, and in the end every document is released once. RESEQ_WEEKEND_DOCUMENTS sets how many documents wait.
#include "tests/simulation/weekend.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <spdlog/spdlog.h>

namespace reseq::runtime {
namespace {

constexpr int kHours = 60;
constexpr std::size_t kNewerEach = 50;  // of so many documents one gets a newer request each hour
constexpr int kKilledEach = 7;          // hours

std::size_t documents() {
#ifdef RESEQ_SANITIZED
  constexpr std::size_t kDocuments = 150;
#else
  constexpr std::size_t kDocuments = 2'000;
#endif
  const char* text = std::getenv("RESEQ_WEEKEND_DOCUMENTS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : kDocuments;
}

// A fifth of what waits may be under way; of 100,000 documents as many as the default says.
std::int64_t in_flight() {
  return static_cast<std::int64_t>(std::min<std::size_t>(documents() / 5, 1'000));
}

class AWeekend : public Weekend, public testing::WithParamInterface<bool> {
 protected:
  AWeekend() : Weekend(of_journal(in_flight())) { spdlog::set_level(spdlog::level::off); }

  // Every tenth document is urgent.
  void everything_comes() {
    for (std::size_t i = 0; i < documents(); ++i)
      request(i, i % 10 == 0 ? std::vector<simulation::StoredHeader>{{"reseq-priority", "10"}}
                             : std::vector<simulation::StoredHeader>{});
  }
  void one_hour(int hour) {
    for (std::size_t i = static_cast<std::size_t>(hour); i < documents(); i += kNewerEach)
      if (i % 3 == 0) request(i);
    if (hour % kKilledEach == kKilledEach - 1) start();
    live(kHourMs);
  }
};

TEST_P(AWeekend, WithoutWorkersLosesNothingAndFailsNothing) {
  start();
  everything_comes();
  for (int hour = 0; hour < kHours; ++hour) {
    one_hour(hour);
    ASSERT_FALSE(HasFatalFailure());
  }
  const Dispatches lost = dispatches();
  std::cout << documents() << " documents, dispatched " << lost.all << ", again " << lost.beyond_first
            << ", highest attempt " << lost.highest_attempt << std::endl;
  EXPECT_EQ(count(Count::kLiveRows), documents()) << "one ended although nobody answered";
  EXPECT_LE(count(Count::kProcessing), static_cast<std::uint64_t>(in_flight()));
  EXPECT_GT(lost.highest_attempt, application.settings.dispatch_timeouts_max) << "nothing was stuck";
  EXPECT_GT(lost.beyond_first, static_cast<std::uint64_t>(in_flight()) * kHours / 4) << "few leases were lost";
  EXPECT_EQ(dead_letters(), 0U);

  pipeline = {.works = true, .takes_ms = 10, .heeds_leases = GetParam()};
  ASSERT_TRUE(drains(12 * kHourMs)) << count(Count::kWaiting) << " wait, " << count(Count::kProcessing)
                                    << " are under way for ever";
  EXPECT_EQ(dead_letters(), 0U) << "what was lost while nobody worked counted against a document";
  std::uint64_t older = 0;
  for (const auto& [id, one] : outcomes()) {
    EXPECT_EQ(one.released, one.asked) << id << " did not end with its newest order";
    older += one.releases - 1;
  }
  // What was under way, or had been, when a newer request came.
  std::cout << "released at an older order before its newest: " << older << std::endl;
  EXPECT_LT(older, documents() / 2);
}

INSTANTIATE_TEST_SUITE_P(Workers, AWeekend, testing::Bool(), [](const auto& heeds) {
  return heeds.param ? std::string("ThatHeedLeases") : std::string("ThatDoAllThatIsThere");
});

class DeadWorker : public Weekend {
 protected:
  static constexpr std::int64_t kLeaseMs = 60'000;
  DeadWorker() : Weekend(with_lease()) {
    spdlog::set_level(spdlog::level::off);
    idle_ms = 50;
  }
  static config::Settings with_lease() {
    config::Settings settings = of_journal(10);
    settings.dispatch_lease_ms = kLeaseMs;
    return settings;
  }
};

// Nobody answers, and nobody says any more that it is at work.
TEST_F(DeadWorker, ItsDocumentIsWithOthersASecondBehindItsLease) {
  start();
  request(0);
  live(1'000);
  ASSERT_EQ(dispatches().all, 1U);
  live(kLeaseMs - 2'000);
  EXPECT_EQ(dispatches().all, 1U) << "its lease was not over";
  live(2'000);
  EXPECT_EQ(dispatches().all, 2U);
  EXPECT_EQ(dispatches().highest_attempt, 2U);
}

// What was heard of it last is what counts.
TEST_F(DeadWorker, ItsDocumentIsWithOthersALeaseAndASecondBehindItsLastHeartbeat) {
  start();
  request(0);
  live(1'000);
  ASSERT_EQ(dispatches().all, 1U);
  live(kLeaseMs / 2);
  heartbeat(0);
  live(kLeaseMs - 1'000);
  EXPECT_EQ(dispatches().all, 1U) << "its lease was not over";
  live(2'000);
  EXPECT_EQ(dispatches().all, 2U);
}

}  // namespace
}  // namespace reseq::runtime
