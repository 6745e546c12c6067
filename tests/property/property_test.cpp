// Order is kept in every random world, and every part of the decision tables is met on the way.
#include <gtest/gtest.h>
#include <iostream>

#include "tests/property/checking.h"
#include "tests/property/reasons.h"

namespace reseq::property {
namespace {

constexpr int kCasesThatMeetAll = 5'000;

void expect_all_met(const Hits& hits) {
  for (std::size_t i = 0; i < hits.table_rows.size(); ++i) {
    if (kTableRowNames[i].starts_with('F')) continue;  // of work that failed: tests/journal
    if (kTableRowNames[i].starts_with('O')) continue;  // of ordered targets: tests/orders
    EXPECT_GT(hits.table_rows[i], 0U) << "table row " << kTableRowNames[i] << " was never met";
  }
  for (std::size_t i = 0; i < hits.outcomes.size(); ++i) {
    if (static_cast<Outcome>(i) == Outcome::kStopped) continue;  // left unread: no outcome, counted below
    if (static_cast<Outcome>(i) == Outcome::kWaiting) continue;  // of a journal: tests/journal
    if (static_cast<Outcome>(i) == Outcome::kHeld) continue;     // of ordered targets: tests/orders
    EXPECT_GT(hits.outcomes[i], 0U) << "outcome " << kOutcomeNames[i] << " was never met";
  }
  for (const Reason reason : kEngineReasons)
    EXPECT_GT(hits.reasons[static_cast<std::size_t>(reason)], 0U) << "reason " << name_of(reason) << " was never met";
  for (const Reason reason : kDecoderReasons)
    EXPECT_GT(hits.reasons[static_cast<std::size_t>(reason)], 0U)
        << "reason " << name_of(reason) << " was not passed on";
  EXPECT_GT(hits.stopped, 0U);
  EXPECT_GT(hits.requests_first, 0U);
  EXPECT_GT(hits.withdrawn, 0U);
  EXPECT_GT(hits.narrowed, 0U);
  EXPECT_GT(hits.monotonic_releases, 0U);
  EXPECT_GT(hits.forced_releases, 0U);
  EXPECT_GT(hits.overdue, 0U);
  EXPECT_GT(hits.held, hits.left_later);
  EXPECT_GT(hits.left_later, 0U);
  EXPECT_GT(hits.left_for_fewer, 0U);
  EXPECT_GT(hits.left_large, 0U);
  EXPECT_GT(hits.gone, 0U);
}

TEST(Property, TheLastReleaseIsTheNewestAcceptedOrderAndEveryReasonIsTrue) {
  Hits hits;
  const Amount amount = suite_amount();
  const auto failure = check(amount, {}, &hits);
  std::cout << hits;
  if (failure)
    FAIL() << "case " << failure->after_cases << ", cut down to\n"
           << failure->script << "\n"
           << failure->story << failure->violation;
  if (amount.cases >= kCasesThatMeetAll) expect_all_met(hits);
}

}  // namespace
}  // namespace reseq::property
