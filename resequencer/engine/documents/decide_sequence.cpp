// Table S, the same as in docs/decision-tables.md: the first row that holds.
// o = order of the result, t = its target. t may rise: it is monotonic, or it starves, waits for something newer, and o
// is above its last release.
//
// clang-format off
// S6  newest(t) > o or o < barrier, and nothing of the document
//     is pending                                                 -> drop stale
// S0  it would be S4 with a t that may rise, or S1, but it is
//     too large for the output of t                              -> dead-letter too_large; in S1 t is removed at o
// S4  newest(t) > o or o < barrier                               -> release if t may rise, else drop superseded
// S1  newest(t) = o, t is pending                                -> release
// S2  newest(t) = o, t is served                                 -> drop duplicate
// S3  newest(t) = o, t is removed; or o is the order of a group
//     and t was never registered                                 -> policy on_unregistered_target
// S5  no row; newest(t) < o; or t was never registered and no
//     group has the order o                                      -> policy on_unregistered
// clang-format on
//
// A redelivered result lands in S2, so it does no harm.
#include "engine/documents/decide_sequence.h"

#include "engine/documents/orders.h"
#include "engine/stamp.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

// It has waited for too long, newer requests came meanwhile, and this order is not from before it began to wait. Nor
// from before the epoch or the reprocess of what it waits for: a version that does not know with which orders waits
// begin leaves them as they were.
bool is_starving(const Row& row, TargetNumber t, const Order& order, const Context& context) {
  if (context.starvation_after <= Milliseconds{}) return false;
  const Overtaken* wait = row.overtaken_of(t);
  const Order& newest = newest_order_of(row, TargetSet::of(t));
  return wait != nullptr && order >= wait->began && order.epoch == newest.epoch && order.sequence != newest.sequence &&
         context.now.value() - wait->first_registered.value() >= context.starvation_after.value();
}

// A result that is not the newest may still go out, when the target takes rising orders and waits for a newer one.
bool is_monotonic_release(const Row& row, TargetNumber t, const Order& order, const Context& context) {
  if (below_barrier(&row, order) || !row.pending().contains(t)) return false;
  const Order* last = last_release(row, t);
  if (last != nullptr && order <= *last) return false;
  return context.monotonic.contains(t) || is_starving(row, t, order, context);
}

SequenceFacts facts_of(const SequenceResult& command, const Order& order, const Row* row, const Context& context) {
  const TargetNumber t = command.target;
  const Standing at = standing_at(row, order);
  SequenceFacts facts;
  facts.behind = at.newer.contains(t) || below_barrier(row, order);
  facts.completed = row != nullptr && row->completed();
  facts.monotonic = facts.behind && is_monotonic_release(*row, t, order, context);
  facts.pending = at.pending.contains(t);
  facts.served = at.served.contains(t);
  facts.removed = at.removed.contains(t);
  facts.never_here = at.group != nullptr && !(at.newer | at.here() | at.older).contains(t);
  facts.too_large = command.output_bytes > context.output_bytes_max[t.value()];
  return facts;
}

// S1 and a monotonic S4. A version that cannot be given leaves everything as it is: t stays pending.
Ruling release(TableRow table_row, const SequenceResult& command, const PartitionState& state, const Context& context) {
  Ruling ruling;  // on all ways: it is made in the caller's place
  const auto stamp = next_stamp(state, command.target, command.observed, context.now, context.max_clock_drift);
  if (const Reason* reason = std::get_if<Reason>(&stamp)) {
    ruling.decision = {Outcome::kDeadLettered, *reason, TableRow::kNone};
    return ruling;
  }
  ruling.decision = {Outcome::kReleased, Reason::kNone, table_row};
  ruling.op = command.op;
  ruling.edit.served = command.target;
  ruling.edit.deletes = command.op == Op::kDelete;
  ruling.edit.version = *std::get_if<Version>(&stamp);
  return ruling;
}

Ruling too_large(const SequenceFacts& facts, const SequenceResult& command) {
  Ruling ruling = dead_letter(TableRow::kS0, Reason::kTooLarge);
  if (facts.pending) ruling.edit.removed = TargetSet::of(command.target);
  return ruling;
}

Ruling rule(const SequenceFacts& facts, const SequenceResult& command, const PartitionState& state,
            const Context& context) {
  const TableRow table_row = classify(facts);
  switch (table_row) {
    case TableRow::kS0:
      return too_large(facts, command);
    case TableRow::kS1:
      return release(table_row, command, state, context);
    case TableRow::kS2:
      return drop(table_row, Reason::kDuplicate);
    case TableRow::kS3:
      return by_policy(context.policies.on_unregistered_target, table_row, Reason::kUnregisteredTarget,
                       facts.never_here);
    case TableRow::kS4:
      if (facts.monotonic) return release(table_row, command, state, context);
      return drop(table_row, Reason::kSuperseded);
    case TableRow::kS6:
      return drop(table_row, Reason::kStale);
    default:
      return by_policy(context.policies.on_unregistered, table_row, Reason::kUnregistered, true);
  }
}

}  // namespace

TableRow classify(const SequenceFacts& facts) {
  if (facts.behind && facts.completed) return TableRow::kS6;
  if (facts.behind) return facts.monotonic && facts.too_large ? TableRow::kS0 : TableRow::kS4;
  if (facts.pending) return facts.too_large ? TableRow::kS0 : TableRow::kS1;
  if (facts.served) return TableRow::kS2;
  if (facts.removed || facts.never_here) return TableRow::kS3;
  return TableRow::kS5;
}

Ruling decide_sequence(const SequenceResult& command, const Row* row, const PartitionState& state,
                       const Context& context) {
  const std::optional<Order> order = command_order(command, row, state.default_epoch);
  if (!order) return refuse(Reason::kEpochMissing);
  Ruling ruling = rule(facts_of(command, *order, row, context), command, state, context);
  set_order(ruling, *order);
  return ruling;
}

Ruling decide_forced(const SequenceResult& command, const Row* row, const PartitionState& state,
                     const Context& context) {
  Ruling ruling = decide_sequence(command, row, state, context);
  const TableRow met = ruling.decision.table_row;
  if (met != TableRow::kS3 && met != TableRow::kS5) return ruling;
  const Order order = ruling.edit.order;
  if (command.output_bytes > context.output_bytes_max[command.target.value()]) {
    ruling = dead_letter(TableRow::kS0, Reason::kTooLarge);
  } else {
    ruling = release(TableRow::kControl, command, state, context);
    if (ruling.edit.served) ruling.edit.moved = TargetSet::of(command.target);
  }
  set_order(ruling, order);
  return ruling;
}

}  // namespace reseq::engine
