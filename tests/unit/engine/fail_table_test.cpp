// What table F leaves to numbers: how long behind a failure an order is tried again. The table itself is played by
// tests/scenarios/failures.txt and tests/journal.
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "engine/failures/decide_fail.h"
#include "map_state.h"

namespace reseq::engine {
namespace {

DispatchRules rules_of(std::int64_t backoff, std::int64_t most) {
  DispatchRules rules;
  rules.backoff = Milliseconds(backoff);
  rules.backoff_max = Milliseconds(most);
  return rules;
}

TEST(BackOff, DoublesUpToItsMaximumAndIsAtLeastHalfOfThat) {
  const DispatchRules rules = rules_of(1'000, 600'000);
  std::int64_t longest = 1'000;
  for (std::uint32_t retry = 1; retry <= 60; ++retry) {
    for (const char* id : {"a", "b", "products/4711"}) {
      const std::int64_t wait = backoff_of(id, retry, rules).value();
      EXPECT_LE(wait, longest) << id << ' ' << retry;
      EXPECT_GE(wait, longest / 2) << id << ' ' << retry;
    }
    longest = std::min<std::int64_t>(2 * longest, 600'000);
  }
  EXPECT_LE(backoff_of("a", UINT32_MAX, rules).value(), 600'000);
}

// What failed together, as when a server went away, does not come back together.
TEST(BackOff, IsSpreadByTheDocument) {
  std::set<std::int64_t> waits;
  for (int i = 0; i < 100; ++i)
    waits.insert(backoff_of("products/" + std::to_string(i), 1, rules_of(1'000, 600'000)).value());
  EXPECT_GT(waits.size(), 60U);
}

TEST(BackOff, IsTheSameForWhoeverDecidesItAgain) {
  EXPECT_EQ(backoff_of("products/4711", 3, rules_of(1'000, 600'000)), Milliseconds(3'348));
}

TEST(BackOff, OfAnySettingsIsPositive) {
  for (const std::int64_t backoff : {std::int64_t{1}, std::int64_t{2}, std::int64_t{31'622'400'000}})
    for (const std::uint32_t retry : {1U, 2U, 50U})
      EXPECT_GE(backoff_of("a", retry, rules_of(backoff, 31'622'400'000)).value(), 1) << backoff << ' ' << retry;
}

constexpr std::uint8_t kMany = 16;

Row under_way_for_many(UnixMs now) {
  const TargetSet targets((std::uint64_t{1} << kMany) - 1);
  Row row;
  row.groups.push_back({order_of(1), true, targets, {}, {}});
  row.since.push_back({targets, now});
  JournalEntry entry;
  entry.order = order_of(1);
  entry.state = EntryState::kProcessing;
  entry.targets = targets;
  entry.number = entry.attempt = 1;
  entry.lease_until = UnixMs(now.value() + 1'000);
  entry.dispatched_at = now;
  row.journal.push_back(entry);
  return row;
}

// A row has to fit the changelog, whatever workers say.
TEST(Failures, HaveErrorsOfABoundedSizeTogether) {
  MapState state;
  Context context = two_targets();
  context.dispatch.journal = context.dispatch.failures = true;
  state.rows["a"] = under_way_for_many(context.now);
  state.partition.journal_number = 1;
  std::vector<std::string> errors;
  for (std::uint8_t t = 0; t < kMany; ++t) errors.emplace_back(kMaxErrorBytes, static_cast<char>('a' + t));
  Batch batch(state, state.partition, context);
  for (std::uint8_t t = 0; t < kMany; ++t) {
    Fail fail;
    fail.id = "a";
    fail.epoch = Epoch(0);
    fail.sequence = sequence_of(1);
    fail.target = TargetNumber(t);
    fail.kind = FailureKind::kTransient;
    fail.error = errors[t];
    ASSERT_EQ(batch.decide(fail, Offset(t), true), Taken::kDecided);
  }
  batch.close();
  ASSERT_EQ(batch.changes().size(), 1U);
  std::size_t bytes = 0;
  TargetSet told;
  for (const Failure& one : batch.changes().front().row->failures) {
    bytes += one.error.size();
    told |= one.targets;
    EXPECT_EQ(one.retries, 1U);
  }
  EXPECT_EQ(bytes, kMaxErrorsBytes);
  EXPECT_EQ(told.size(), kMany) << "an error that has no room cost its failure";
}

}  // namespace
}  // namespace reseq::engine
