#include "engine/operations/decide_control.h"

#include "engine/documents/decide_sequence.h"
#include "engine/documents/orders.h"
#include "engine/failures/breakers.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

// A floor leaves so many versions at least: more than there are milliseconds in 8,000 years.
constexpr std::uint64_t kVersionsLeftMin = std::uint64_t{1} << 48;

bool is_expected(const std::optional<ExpectedRequest>& expected, const Row* row) {
  if (!expected) return true;
  const Order* newest = newest_order(row);
  return newest != nullptr && newest->epoch == expected->epoch && newest->sequence == expected->sequence;
}

// Something as new as this was requested of a document whose target is known, or stopped by a delete. If not, a newer
// one may have gone out and be forgotten, or the number is wrong: then all requests below it would be stopped. What is
// known of other targets says nothing: a row that was forgotten begins anew with the targets of its next request.
bool is_requested(const Row* row, const Order& order, TargetNumber t) {
  if (below_barrier(row, order)) return true;
  const Order* newest = newest_order(row);
  if (newest == nullptr || *newest < order) return false;
  const Standing at = standing_at(row, order);
  return (at.newer | at.here() | at.older).contains(t);
}

Decision applied() {
  return {Outcome::kApplied, Reason::kNone, TableRow::kControl};
}

Decision dropped(Reason reason) {
  return {Outcome::kDropped, reason, TableRow::kControl};
}

}  // namespace

Ruling decide_expire(const Expire& command, const Row* row) {
  if (row == nullptr) return drop(TableRow::kControl, Reason::kUnregistered);
  Ruling ruling;
  if (const Order* newest = newest_order(row)) set_order(ruling, *newest);
  // What failed is over, but an operator may want to see it no more.
  const TargetSet all = row->pending() | row->failed();
  const TargetSet pending = command.targets.empty() ? all : all & command.targets;
  if (!is_expected(command.expected, row)) {
    ruling.decision = dropped(Reason::kUnexpectedState);
  } else if (pending.empty()) {
    ruling.decision = dropped(Reason::kNoChange);
  } else {
    ruling.decision = applied();
    ruling.edit.removed = pending;
    ruling.edit.by_hand = true;
  }
  return ruling;
}

Ruling decide_dispatch(const DispatchByHand& command, const Row* row, bool moves, const Context& context) {
  if (command.until && !context.may_wait_until(*command.until)) return refuse(Reason::kMalformedHeader);
  if (row == nullptr) return drop(TableRow::kControl, Reason::kUnregistered);
  Ruling ruling;
  if (const Order* newest = newest_order(row)) set_order(ruling, *newest);
  if (!is_expected(command.expected, row))
    ruling.decision = dropped(Reason::kUnexpectedState);
  else
    ruling.decision = moves ? applied() : dropped(Reason::kNoChange);
  return ruling;
}

Ruling decide_release(const ReleaseByHand& command, const Row* row, const PartitionState& state,
                      const Context& context) {
  const std::optional<Order> order = command_order(command.result, row, state.default_epoch);
  if (!order) return refuse(Reason::kEpochMissing);
  const bool expected = is_expected(command.expected, row);
  if (expected && (is_requested(row, *order, command.result.target) || command.unknown))
    return decide_forced(command.result, row, state, context);
  Ruling ruling;
  ruling.decision = dropped(expected ? Reason::kUnregistered : Reason::kUnexpectedState);
  set_order(ruling, *order);
  return ruling;
}

Decision raise_floor(const RaiseFloor& command, PartitionState& state) {
  Version& floor = command.target ? state.floors.by_target[*command.target] : state.floors.global;
  const Version before = floor;
  Decision decision = applied();
  if (command.expected && *command.expected != before)
    decision = dropped(Reason::kUnexpectedState);
  else if (command.floor <= before)
    decision = dropped(Reason::kNoChange);
  else if (command.floor.value() > kVersionLimit - kVersionsLeftMin)
    decision = dropped(Reason::kVersionExhausted);
  else if (!command.dry_run)
    floor = command.floor;
  // No target has a floor of 0.
  if (command.target && floor == Version()) state.floors.by_target.erase(*command.target);
  return decision;
}

Decision pause(const Pause& command, PartitionState& state) {
  if (state.paused == command.paused) return dropped(Reason::kNoChange);
  if (!command.dry_run) state.paused = command.paused;
  return applied();
}

Decision resume_target(const ResumeTarget& command, PartitionState& state) {
  if (!open_targets(state.breakers).contains(command.target)) return dropped(Reason::kNoChange);
  if (!command.dry_run) close_breaker(state.breakers, command.target, state.journal_number);
  return applied();
}

}  // namespace reseq::engine
