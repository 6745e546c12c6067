// What waits for idle times stands in front of what is stuck: nothing of it may leave, so there is nothing to do.
#include <algorithm>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "tests/simulation/weekend.h"

namespace reseq::runtime {
namespace {

class IdleTimes : public Weekend {
 protected:
  static constexpr std::int64_t kMinuteMs = 60'000;
  static constexpr std::size_t kStuck = 0;
  static constexpr std::size_t kUrgent = 1;
  static constexpr std::size_t kIdle = 2;

  IdleTimes() : Weekend(settings_of_idle_times()) {
    spdlog::set_level(spdlog::level::off);
    idle_ms = 1'000;
  }
  static config::Settings settings_of_idle_times() {
    config::Settings settings = of_journal(2);
    settings.dispatch_lease_ms = kMinuteMs;
    settings.dispatch_timeouts_max = 0;
    return settings;
  }
};

// While it was so, a worker began empty transactions without a pause, for as long as the urgent one was under way.
TEST_F(IdleTimes, KeepNoWorkerBusyThatMayDoNothing) {
  start();
  request(kStuck);
  live(kMinuteMs + 5'000);
  ASSERT_EQ(count(Count::kWaiting), 1U);
  request(kUrgent, {{"reseq-priority", "10"}});
  request(kIdle, {{"reseq-priority", "200"}});
  std::uint64_t most = 0;
  for (int i = 0; i < 30; ++i) {
    const std::uint64_t before = steps();
    heartbeat(kUrgent);
    live(kMinuteMs / 2);
    most = std::max(most, steps() - before);
  }
  EXPECT_EQ(count(Count::kProcessing), 1U);
  EXPECT_EQ(count(Count::kWaiting), 2U);
  EXPECT_LT(most, 1'000U) << "of half a minute";
}

}  // namespace
}  // namespace reseq::runtime
