// The job table alone: every random history comes to its end, and everything that may happen is met on the way.
#include <gtest/gtest.h>
#include <iostream>

#include "tests/journal/checking.h"
#include "tests/journal/job_table.h"
#include "tests/journal/world.h"

namespace reseq::journal {
namespace {

constexpr int kCasesThatMeetAll = 3'000;

std::uint64_t count_of(const Hits& hits, Outcome outcome) {
  return hits.outcomes[static_cast<std::size_t>(outcome)];
}
std::uint64_t count_of(const Hits& hits, Reason reason) {
  return hits.reasons[static_cast<std::size_t>(reason)];
}

void expect_all_met(const Hits& hits) {
  for (const Outcome outcome : {Outcome::kForwarded, Outcome::kWaiting, Outcome::kRegistered, Outcome::kReleased,
                                Outcome::kRemoved, Outcome::kApplied, Outcome::kDropped, Outcome::kDeadLettered})
    EXPECT_GT(count_of(hits, outcome), 0U) << name_of(outcome);
  for (const Reason reason : {Reason::kSuperseded, Reason::kStale, Reason::kDuplicate, Reason::kUnregistered,
                              Reason::kUnregisteredTarget, Reason::kSequenceReused, Reason::kExpired,
                              Reason::kAttemptMissing, Reason::kAttemptBehind, Reason::kNoChange, Reason::kNoRequest})
    EXPECT_GT(count_of(hits, reason), 0U) << name_of(reason);
  EXPECT_GT(hits.dispatched_later, 0U);
  EXPECT_GT(hits.again, 0U);
  EXPECT_GT(hits.timed_out, 0U);
}

TEST(JobTable, EveryHistoryEndsWithNothingThatWaits) {
  const Amount amount = suite_amount();
  Hits hits;
  const auto failure = check(amount, [&](const History& history) -> std::optional<Wrong> {
    JobTable table(rules_of(history));
    World world(history, table, nullptr, &hits);
    const std::string violation = world.play();
    if (violation.empty()) return std::nullopt;
    return Wrong{violation, world.story()};
  });
  std::cout << hits;
  if (failure) FAIL() << *failure;
  if (amount.cases >= kCasesThatMeetAll) expect_all_met(hits);
}

}  // namespace
}  // namespace reseq::journal
