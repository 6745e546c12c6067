// Table F, the same as in docs/decision-tables.md. Each target of the command meets the first row that fits.
// o = its order, a = its attempt (absent: 1), t = a target of it.
//
// clang-format off
// F0  t is not pending at o                                      -> drop duplicate, superseded, policy on_unregistered
// F1  a is not the attempt of t, or its end is noted already, or
//     o is still to be dispatched for t, or what waits took it
//     over                                                       -> drop duplicate
// F6  no request of o is known, or its dispatch is not           -> dead-letter no_request, t is removed
// F2  t is potent, and it does not say that nothing was done     -> t is given up: nobody knows what was done
// F3  the breaker of t is open and it says that t cannot be
//     reached, or it was under way when that opened and is not
//     the document's and permanent; or it opens the breaker      -> it waits for t, and that is no retry
// F4  it is the document's and permanent, or its retries are used
//     up, or it is the same unknown error too often in a row     -> t is given up: a dead letter with the request
// F5  else                                                       -> t is tried again, later
// clang-format on
//
// F0 is duplicate where t is served or removed at o, superseded where newest(t) > o or o < barrier.
// `*` asks for all targets that attempt a was dispatched for and that are pending. The attempt of t is that of the
// dispatch that last carried it. A command without one, when that is above 1 (of `*`, when nothing of attempt 1 is
// under way any more), cannot be told from a redelivered one: attempt_missing. `*` never meets F6: it is about what was
// dispatched. Something that all need and that fails (universal) is tried again even if it says permanent.
#include "engine/failures/decide_fail.h"

#include <algorithm>

#include "engine/documents/orders.h"
#include "engine/failures/breakers.h"
#include "engine/failures/fixed_hash.h"
#include "engine/journal/entries.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

Ruling not_pending(const Fail& command, const Standing& at, bool behind, const Context& context) {
  const bool here = command.everything ? at.group != nullptr : at.here().contains(command.target);
  if (behind) return drop(TableRow::kF0, Reason::kSuperseded);
  if (here) return drop(TableRow::kF0, Reason::kDuplicate);
  return by_policy(context.policies.on_unregistered, TableRow::kF0, Reason::kUnregistered, true);
}

// Targets of what is under way at the order: under this attempt, and under any.
struct UnderWay {
  TargetSet this_attempt;
  TargetSet all;
  TargetSet waiting;  // again, or taken over by what waits
  std::uint32_t last = 0;
};

UnderWay under_way(const Row& row, const Order& order, TargetSet asked, std::uint32_t attempt) {
  UnderWay found;
  for (const JournalEntry& entry : row.journal) {
    if (entry.state == EntryState::kWaiting && entry.order > order) found.waiting |= entry.taken_over & asked;
    const TargetSet targets = entry.targets & asked;
    if (entry.order != order || targets.empty()) continue;
    if (entry.state == EntryState::kWaiting) found.waiting |= targets;
    if (entry.state != EntryState::kProcessing) continue;
    found.all |= targets;
    found.last = std::max(found.last, entry.attempt);
    if (entry.attempt == attempt) found.this_attempt |= targets;
  }
  return found;
}

// What is known of a target that was dispatched at the order, behind this failure of that attempt.
Failure failure_behind(const Fail& command, const Order& order, TargetNumber target, std::uint32_t attempt,
                       const Row& row, bool waits_for_target, const Context& context) {
  const Failure* const before = row.failure_of(target, order);
  const DispatchRules& rules = context.dispatch;
  const bool of_document = command.scope == FailureScope::kDocument;
  Failure failure;
  failure.targets = TargetSet::of(target);
  failure.order = order;
  failure.attempt = attempt;
  failure.at = context.now;
  failure.error = command.error;
  failure.retries = before != nullptr ? before->retries : 0;
  failure.effect_unknown = context.potent.contains(target) && !command.without_effect;
  if (waits_for_target && !failure.effect_unknown) return failure;
  if (of_document && command.kind == FailureKind::kUnknown)
    failure.repeats = before != nullptr && before->error == command.error ? before->repeats + 1 : 1;
  const bool hopeless = failure.effect_unknown || (of_document && command.kind == FailureKind::kPermanent) ||
                        failure.repeats >= rules.repeats_max;
  failure.for_good = hopeless || failure.retries >= rules.retries_max;
  failure.exhausted = failure.for_good && !hopeless;
  if (!failure.for_good) ++failure.retries;
  return failure;
}

// The strongest row of all targets is told.
void fail_for(TargetNumber target, const Fail& command, const Order& order, std::uint32_t attempt, const Row& row,
              const PartitionState& state, const Context& context, FailRuling& fail) {
  const bool universal = command.scope == FailureScope::kUniversal;
  const TargetFailure what{command.id,   target,    under_way_for(row, order, target)->number,
                           command.kind, universal, command.error};
  const auto waits = note_failure(fail.breakers, what, state.journal_number, context);
  const Failure failure = failure_behind(command, order, target, attempt, row, waits.has_value(), context);
  TableRow& met = fail.ruling.decision.table_row;
  if (failure.effect_unknown) {
    met = TableRow::kF2;
  } else if (failure.for_good) {
    if (met != TableRow::kF2) met = TableRow::kF4;
  } else if (waits) {
    fail.retry_at = std::max(fail.retry_at, waits->retry_at);
  } else {
    if (met == TableRow::kF3) met = TableRow::kF5;
    const Milliseconds backoff = backoff_of(command.id, failure.retries, context.dispatch);
    fail.retry_at = std::max(fail.retry_at, UnixMs(context.now.value() + backoff.value()));
  }
  fail.failures.push_back(failure);
}

// Nothing can be tried again, but it is listed, and an operator can ask for it.
Failure untold_failure(const Fail& command, const Order& order, TargetSet targets, const Context& context) {
  Failure failure;
  failure.targets = targets;
  failure.order = order;
  failure.attempt = std::max(command.attempt, 1U);
  failure.at = context.now;
  failure.error = command.error;
  failure.for_good = failure.exhausted = true;
  return failure;
}

}  // namespace

FailRuling decide_fail(const Fail& command, const Row* row, const PartitionState& state, const Context& context) {
  const std::optional<Order> order = command_order(command, row, state.default_epoch);
  if (!order) return {refuse(Reason::kEpochMissing), {}, {}, {}};
  const Standing at = standing_at(row, *order);
  const TargetSet pending = row != nullptr ? at.pending | row->waiting_in_lanes(*order) : TargetSet();
  const TargetSet asked = command.everything ? pending : pending & TargetSet::of(command.target);
  const Order* newest = newest_order(row);
  const bool older = command.everything ? at.group == nullptr && newest != nullptr && *order < *newest
                                        : at.newer.contains(command.target);
  const std::uint32_t attempt = std::max(command.attempt, 1U);
  const UnderWay found = asked.empty() ? UnderWay() : under_way(*row, *order, asked, attempt);
  const TargetSet unknown = asked.without(found.all | found.waiting);
  // Sent when nobody kept what was dispatched (failures were off).
  const bool is_newest = row != nullptr && row->requested && row->requested->order == *order;
  const TargetSet untold = is_newest ? unknown & row->requested->forwarded : TargetSet();
  // A redelivered one of all must not take along what a command has registered there.
  const TargetSet orphaned = command.everything ? untold : unknown;
  FailRuling fail;
  if (asked.empty()) {
    fail.ruling = not_pending(command, at, older || below_barrier(row, *order), context);
  } else if (!found.this_attempt.empty()) {
    fail.breakers = state.breakers;
    fail.ruling.decision = {Outcome::kApplied, Reason::kNone, TableRow::kF3};
    for (const TargetNumber target : found.this_attempt)
      fail_for(target, command, *order, attempt, *row, state, context, fail);
  } else if (command.attempt == 0 && found.last > 1) {
    fail.ruling = dead_letter(TableRow::kF1, Reason::kAttemptMissing);
  } else if (!orphaned.empty()) {
    fail.ruling = dead_letter(TableRow::kF6, Reason::kNoRequest);
    fail.ruling.edit.removed = orphaned;
    if (!untold.empty()) {
      fail.ruling.edit.fails = true;
      fail.untold = untold_failure(command, *order, untold, context);
    }
  } else {
    fail.ruling = drop(TableRow::kF1, Reason::kDuplicate);
  }
  set_order(fail.ruling, *order);
  return fail;
}

Milliseconds backoff_of(DocumentId id, std::uint32_t retries, const DispatchRules& rules) {
  constexpr std::uint32_t kDoublings = 40;  // then it is above any maximum
  const std::int64_t most = rules.backoff_max.value();
  const std::uint32_t doublings = std::min(retries > 0 ? retries - 1 : 0, kDoublings);
  const std::int64_t doubled = std::int64_t{1} << doublings;
  const std::int64_t longest = doubled > most / rules.backoff.value() ? most : rules.backoff.value() * doubled;
  const std::int64_t half = longest / 2;
  const std::uint64_t spread = (fixed_hash(id, retries) >> 32U) % static_cast<std::uint64_t>(half + 1);
  return Milliseconds(longest - half + static_cast<std::int64_t>(spread));
}

}  // namespace reseq::engine
