// A journal that is switched off and on while requests wait: nothing is lost, and nothing is released twice.
#include <gtest/gtest.h>
#include <iostream>
#include <spdlog/spdlog.h>

#include "engine/journal/journal_batch.h"
#include "tests/simulation/weekend.h"

namespace reseq::runtime {
namespace {

constexpr std::size_t kWaiting = 300;
constexpr int kSwitches = 12;
constexpr std::int64_t kDateMs = 600'000;  // behind the last switch
constexpr std::int64_t kLeaseOfSwitchesMs = 20'000;

class Switches : public Weekend {
 protected:
  Switches() : Weekend(with_short_leases()) {
    spdlog::set_level(spdlog::level::off);
    idle_ms = 200;
    test::good(immediate.ask(*kafka, simulation::kLimit));
  }
  static config::Settings with_short_leases() {
    config::Settings settings = of_journal(5);
    settings.dispatch_lease_ms = kLeaseOfSwitchesMs;
    return settings;
  }
  static config::Settings without_journal() {
    config::Settings settings = with_short_leases();
    settings.dispatch_mode = "immediate";
    return settings;
  }
  // Every ninth one waits for its date.
  void everything_waits() {
    const std::string date = std::to_string(broker.now().value() + kDateMs);
    for (std::size_t i = 0; i < kWaiting; ++i)
      request(i, i % 9 == 0 ? std::vector<simulation::StoredHeader>{{"reseq-process-at", date}}
                            : std::vector<simulation::StoredHeader>{{"reseq-priority", std::to_string(i % 256)}});
  }
  [[nodiscard]] std::uint64_t capabilities_of_state() const {
    return worker->tasks().front()->store().meta()->capabilities;
  }

  Application immediate{without_journal()};
};

class Switching : public Switches, public testing::WithParamInterface<bool> {};

TEST_P(Switching, WhileRequestsWaitLosesNothingAndReleasesNothingTwice) {
  start();
  everything_waits();
  live(1'000);
  EXPECT_GT(count(Count::kWaiting), kWaiting / 2);
  EXPECT_EQ(capabilities_of_state(), engine::kJournalNumbers.capability_bit())
      << "a version that knows no journal would open what waits";
  pipeline = {.works = true, .takes_ms = 150, .loses_each = 3};
  for (int i = 0; i < kSwitches; ++i) {
    start(i % 2 == 0 ? &immediate : nullptr);
    for (std::size_t n = static_cast<std::size_t>(i); n < kWaiting; n += 7) request(n);
    live(3'000 + 1'700 * (i % 5));
    ASSERT_FALSE(HasFatalFailure());
  }
  start(GetParam() ? nullptr : &immediate);
  EXPECT_GT(count(Count::kWaiting), kWaiting / 10) << "nothing waited any more";
  ASSERT_TRUE(drains(2 * kHourMs)) << count(Count::kWaiting) << " wait, " << count(Count::kProcessing)
                                   << " are under way for ever";
  for (const auto& [id, one] : outcomes()) EXPECT_EQ(one.released, one.asked) << id;
  EXPECT_EQ(dead_letters(), 0U);
  EXPECT_GT(dispatches().beyond_first, 0U) << "no lease was lost";
  EXPECT_EQ(capabilities_of_state(), 0U) << "an older version could not go on although nothing waits";
}

INSTANTIATE_TEST_SUITE_P(Ends, Switching, testing::Bool(), [](const auto& journal) {
  return journal.param ? std::string("WithAJournal") : std::string("WithoutOne");
});

TEST_F(Switches, LetWhatWaitsLeaveWithoutAJournalAsItCameButNotBeforeItsDate) {
  start();
  everything_waits();
  live(1'000);
  const std::uint64_t before = dispatches().all;
  start(&immediate);
  live(2'000);
  EXPECT_EQ(count(Count::kWaiting), (kWaiting + 8) / 9) << "something else than a date kept what waits";
  EXPECT_GT(dispatches().all, before + kWaiting / 2);
  live(kDateMs);
  EXPECT_EQ(count(Count::kWaiting), 0U);
}

}  // namespace
}  // namespace reseq::runtime
