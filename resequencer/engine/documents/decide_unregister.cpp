// Table U, the same as in docs/decision-tables.md. Each target meets one row; the outcome is that of the first row that
// some target meets, and all targets of U1 and U3 are removed.
// o = order of the command.
//
// clang-format off
// U1  t is pending at o                                          -> removed
// U3  o is the order of a group, newest(t) < o or none           -> removed at o
// U2  t is served or removed at o                                -> drop duplicate
// U4  newest(t) > o or o < barrier                               -> drop superseded
// U5  no row, or newest(t) < o or none and no group has the
//     order o                                                    -> policy on_unregistered
// clang-format on
//
// Below the barrier every target meets U4.
// U3 sticks: a REGISTER that is replayed must not bring back what nobody will deliver.
// `*` asks for all that is pending at o: U1; if nothing is, U2 when o is the order of a group, U4 when o < barrier or
// the row's newest order, else U5. That newest order may be of other targets, so U4 by it is a miss like U5.
//
// A list that may have been copied is refused where U1 or U3 would remove something.
#include "engine/documents/decide_unregister.h"

#include "engine/documents/orders.h"

namespace reseq::engine {
namespace {

// A list that a pipeline copied from `work` names everything it was asked for, which is hardly what it gives up.
// Nothing in the record tells it from one that is meant and equal, so each that may be a list of `work` is refused:
// - in tap any: the pipeline reads requests, and the row need not know of all of them;
// - one that names all that is at this order;
// - one whose targets are all at this order or beyond it, as those of a list of `work` are. No target is in two lists
//   of one order; so of the newest requested order, one that shares a target with the last list and differs is meant.
//   Orders beyond that one have had no work.
bool may_be_copied(const Unregister& command, const Order& order, const Row& row, const Standing& at,
                   const Context& context) {
  if (!command.from_list) return false;
  if (context.intake == Intake::kTap) return true;
  if (at.group != nullptr && command.targets.covers(at.group->known())) return true;
  if (!(at.here() | at.newer).covers(command.targets)) return false;
  if (!row.requested || row.requested->order < order) return false;
  if (row.requested->order != order) return true;
  const TargetSet last = row.requested->forwarded;
  return command.targets == last || (command.targets & last).empty();
}

Ruling rule(TableRow table_row, const Context& context) {
  switch (table_row) {
    case TableRow::kU2:
      return drop(table_row, Reason::kDuplicate);
    case TableRow::kU4:
      return drop(table_row, Reason::kSuperseded);
    case TableRow::kU5:
      return by_policy(context.policies.on_unregistered, table_row, Reason::kUnregistered, true);
    default: {
      Ruling ruling;
      ruling.decision = {Outcome::kRemoved, Reason::kNone, table_row};
      return ruling;
    }
  }
}

}  // namespace

UnregisterSets split(TargetSet targets, const Standing& at, bool below_barrier) {
  UnregisterSets sets;
  sets.superseded = below_barrier ? targets : targets & at.newer;
  const TargetSet rest = targets.without(sets.superseded);
  sets.pending = rest & at.pending;
  sets.duplicate = rest & (at.served | at.removed);
  const TargetSet elsewhere = rest.without(at.here());
  (at.group != nullptr ? sets.never_here : sets.unregistered) = elsewhere;
  return sets;
}

TableRow classify(const UnregisterSets& sets) {
  if (!sets.pending.empty()) return TableRow::kU1;
  if (!sets.never_here.empty()) return TableRow::kU3;
  if (!sets.duplicate.empty()) return TableRow::kU2;
  if (!sets.superseded.empty()) return TableRow::kU4;
  return TableRow::kU5;
}

TableRow classify_everything(const Standing& at, bool behind) {
  if (!at.pending.empty()) return TableRow::kU1;
  if (at.group != nullptr) return TableRow::kU2;
  return behind ? TableRow::kU4 : TableRow::kU5;
}

Ruling decide_unregister(const Unregister& command, const Row* row, const PartitionState& state,
                         const Context& context) {
  const std::optional<Order> order = command_order(command, row, state.default_epoch);
  if (!order) return refuse(Reason::kEpochMissing);
  const Standing at = standing_at(row, *order);
  const bool below = below_barrier(row, *order);
  const Order* newest = newest_order(row);

  const UnregisterSets sets = split(command.everything ? at.pending : command.targets, at, below);
  const TableRow table_row =
      command.everything ? classify_everything(at, below || (newest != nullptr && *order < *newest)) : classify(sets);
  const TargetSet removed = sets.pending | sets.never_here;
  Ruling ruling;
  if (!command.everything && command.targets.empty()) {
    ruling = refuse(Reason::kMissingTarget);
  } else if (!removed.empty() && may_be_copied(command, *order, *row, at, context)) {
    ruling = refuse(Reason::kAmbiguousTargets);
  } else {
    ruling = rule(table_row, context);
    ruling.edit.removed = removed;
  }
  const bool unknown = command.everything && at.group == nullptr && !below;
  ruling.miss = ruling.miss || unknown || !sets.never_here.empty() || !sets.unregistered.empty();
  set_order(ruling, *order);
  return ruling;
}

}  // namespace reseq::engine
