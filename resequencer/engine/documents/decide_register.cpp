// Table R, the same as in docs/decision-tables.md: the first row that holds.
// o = order of the registration, T = its targets.
//
// clang-format off
// R6  reprocess of the newest epoch and sequence: o is a new
//     revision                                                   -> forward to all of its targets that are not removed
// R0  o < barrier                                                -> drop superseded or epoch_behind
// R5  a request, o is the newest requested order, the payload or
//     the op is another one                                      -> dead-letter sequence_reused
// R1  no row                                                     -> register T; a request forwards
// R7  a request above the newest requested order, at which all of
//     T are served, and which asked for the same
//     (skip_unchanged)                                           -> those are served at o; outcome unchanged
// R2  some of T have newest(t) < o or none, or a request finds
//     pending at o what only commands registered                 -> those move to o; a request forwards both
// R3  all of T have newest(t) = o                                -> drop duplicate
// R4  some of T have newest(t) > o, none moves                   -> drop superseded or epoch_behind
// clang-format on
//
// Requests and commands are judged alike, target by target: it must not matter whether a REGISTER comes before or
// behind a newer request of other targets. Only a delete for all stops it for every target.
// R0 compares with the barrier, R4 with the newest order of T: `epoch_behind` is said when only the epoch of o is older
// than that.
// R6 stands first because it makes the order that R0 would compare; that order is above everything the row knows.
// R7 stands in front of R2, and takes no request that something waits for: what it asks for was delivered.
// A delete without a list of its own is meant for all targets: it raises the barrier to o in R1, R2, R3, R4, R6 and R7.
#include "engine/documents/decide_register.h"

#include "engine/documents/orders.h"
#include "engine/documents/routes.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

// What a registration asks for, once row, routes and defaults are known.
struct Wanted {
  Order order;
  TargetSet targets;
  bool for_all = false;
  bool reprocesses = false;
  bool none = false;  // it asks for no target at all

  // Ordered ones have a table of their own.
  void keep_out(TargetSet ordered) {
    none = targets.empty();
    targets = targets.without(ordered);
  }
};

bool is_for_all(const Registration& what) {
  return what.op == Op::kDelete && !what.targets;
}

// Of a document that is known a delete for all is meant for those that it has got, or waits for.
TargetSet targets_of_delete(const Registration& what, const Row* row, const Context& context) {
  if (row == nullptr) return context.all_targets;
  TargetSet targets = routed(what, context) | row->known();
  for (const Lane& lane : row->lanes) targets |= TargetSet::of(lane.target) & context.lanes.targets.all();
  return targets;
}

// Targets that the newest (epoch, seq) of the row has, in whatever revision, and that are not removed there, unless
// because they failed. What was done for a potent one is not done again. A delete meant for all also takes those that
// stayed at older orders: below the new barrier nothing could reach them any more.
TargetSet targets_to_reprocess(const Row& row, const Order& newest, bool for_all, TargetSet potent) {
  TargetSet newer;
  TargetSet targets;
  for (const Group& group : row.groups) {
    if (same_request(group.order, newest))
      targets |= (group.pending | group.served.without(potent) | row.failed_at(group)).without(newer);
    else if (for_all)
      targets |= group.known().without(newer);
    newer |= group.known();
  }
  return targets;
}

Wanted wanted_by(const Request& request, const Row* row, const PartitionState& state, const Context& context) {
  Wanted wanted;
  wanted.order = request_order(request.what, state.default_epoch);
  wanted.for_all = is_for_all(request.what);
  const Order* newest = newest_order(row);
  if (request.reprocess && newest != nullptr && same_request(wanted.order, *newest)) {
    wanted.targets = targets_to_reprocess(*row, *newest, wanted.for_all, context.potent);
    if (!wanted.targets.empty()) {
      wanted.reprocesses = true;
      wanted.order.revision = Revision(newest->revision.value() + 1);
      return wanted;
    }
  }
  wanted.targets = targets_asked(request.what, row, context);
  wanted.keep_out(context.lanes.targets.all());
  return wanted;
}

RegisterFacts facts_of(const Wanted& wanted, const Row* row, const Standing& at) {
  RegisterFacts facts;
  facts.reprocesses = wanted.reprocesses;
  facts.behind = below_barrier(row, wanted.order);
  facts.known = row != nullptr;
  facts.moved = wanted.targets.without(at.newer | at.here());
  facts.newer = wanted.targets & at.newer;
  return facts;
}

// Both asked for the same thing, as far as anybody can tell.
bool asks_for_the_same(const Request& request, const Requested& newest) {
  return newest.content == request.wish->content && newest.hash == request.hash;
}

// Nothing of it would be new to its targets. REQUIRES: content_of(request)
[[gnu::noinline]] bool is_unchanged(const Request& request, const Order& order, TargetSet targets, const Row* row) {
  if (request.reprocess || row == nullptr || !row->requested || targets.empty()) return false;
  const Requested& newest = *row->requested;
  return newest.order < order && asks_for_the_same(request, newest) &&
         standing_at(row, newest.order).served.covers(targets);
}

// What the rows do that are the same for requests and commands; R1, R2, R6 and R7 are the caller's to finish. One
// ruling on all ways: it is made in the caller's place.
Ruling rule(TableRow table_row, const Wanted& wanted, const Row* row) {
  Ruling ruling;
  Decision& decision = ruling.decision;
  switch (table_row) {
    case TableRow::kR0:
      decision = {Outcome::kDropped, why_behind(wanted.order, *row->barrier), table_row};
      return ruling;
    case TableRow::kR5:
      decision = {Outcome::kDeadLettered, Reason::kSequenceReused, table_row};
      return ruling;
    case TableRow::kR3:
      decision = {Outcome::kDropped, Reason::kDuplicate, table_row};
      break;
    case TableRow::kR4:
      decision = {Outcome::kDropped, why_behind(wanted.order, newest_order_of(*row, wanted.targets)), table_row};
      break;
    case TableRow::kR7:
      decision = {Outcome::kUnchanged, Reason::kNone, table_row};
      break;
    default:
      decision = {Outcome::kRegistered, Reason::kNone, table_row};
  }
  ruling.edit.raises_barrier = wanted.for_all && (row == nullptr || !row->barrier || *row->barrier < wanted.order);
  return ruling;
}

bool registers(TableRow row) {
  return row == TableRow::kR1 || row == TableRow::kR2 || row == TableRow::kR6;
}
bool ends_before_targets(TableRow row) {
  return row == TableRow::kR0 || row == TableRow::kR5;
}

}  // namespace

TargetSet targets_asked(const Registration& what, const Row* row, const Context& context) {
  if (what.targets) return *what.targets;
  return is_for_all(what) ? targets_of_delete(what, row, context) : routed(what, context);
}

TableRow classify(const RegisterFacts& facts) {
  if (facts.reprocesses) return TableRow::kR6;
  if (facts.behind) return TableRow::kR0;
  if (facts.reused) return TableRow::kR5;
  if (!facts.known) return TableRow::kR1;
  if (!(facts.moved | facts.late).empty()) return facts.unchanged ? TableRow::kR7 : TableRow::kR2;
  if (facts.newer.empty()) return TableRow::kR3;
  return TableRow::kR4;
}

namespace {

Ruling refuse_in_tap(const Request& request, const PartitionState& state) {
  Ruling refused = refuse(Reason::kReprocessNeedsInline);
  set_order(refused, request_order(request.what, state.default_epoch));
  return refused;
}

// One ruling on all ways, as above.
Ruling by_table(const Request& request, Offset position, const Row* row, const PartitionState& state,
                const Context& context) {
  const Wanted wanted = wanted_by(request, row, state, context);
  const Standing at = standing_at(row, wanted.order);
  RegisterFacts facts = facts_of(wanted, row, at);
  facts.reused =
      row != nullptr && row->requested && row->requested->order == wanted.order && row->requested->hash != request.hash;
  if (at.group != nullptr && !at.group->requested) facts.late = at.pending;
  const Digest* const content = content_of(request);
  if (content != nullptr && facts.late.empty())
    facts.unchanged = is_unchanged(request, wanted.order, wanted.targets, row);

  const TableRow table_row = classify(facts);
  const bool accepts = registers(table_row);
  const bool no_target = wanted.none && !ends_before_targets(table_row);
  const bool too_large = accepts && context.intake == Intake::kInline && request.work_bytes > context.work_bytes_max;
  Ruling ruling = no_target   ? refuse(Reason::kNoTarget)
                  : too_large ? refuse(Reason::kTooLarge)
                              : rule(table_row, wanted, row);
  if (!no_target && !too_large && accepts) {
    const TargetSet forwards = context.intake == Intake::kInline ? facts.moved | facts.late : TargetSet{};
    ruling.edit.moved = facts.moved;
    ruling.edit.requested = Accepted{position, request.hash, forwards, content};
    ruling.op = request.what.op;
    if (!forwards.empty()) ruling.decision.outcome = Outcome::kForwarded;
  } else if (table_row == TableRow::kR7) {
    ruling.edit.moved = facts.moved;
    ruling.edit.unchanged = true;
    ruling.edit.requested = Accepted{position, request.hash, {}, content};
  }
  set_order(ruling, wanted.order);
  return ruling;
}

}  // namespace

Ruling decide_request(const Request& request, Offset position, const Row* row, const PartitionState& state,
                      const Context& context) {
  if (request.reprocess && context.intake == Intake::kTap) return refuse_in_tap(request, state);
  return by_table(request, position, row, state, context);
}

Ruling decide_register(const Register& command, const Row* row, const PartitionState& state, const Context& context) {
  const std::optional<Order> order = command_order(command.what, row, state.default_epoch);
  if (!order) return refuse(Reason::kEpochMissing);
  Wanted wanted{*order, targets_asked(command.what, row, context), is_for_all(command.what)};
  wanted.keep_out(context.lanes.targets.all());
  const RegisterFacts facts = facts_of(wanted, row, standing_at(row, *order));
  const TableRow table_row = classify(facts);
  const bool no_target = wanted.none && !ends_before_targets(table_row);
  Ruling ruling = no_target ? refuse(Reason::kNoTarget) : rule(table_row, wanted, row);
  if (!no_target && registers(table_row)) {
    ruling.miss = true;
    ruling.edit.moved = facts.moved;
  }
  set_order(ruling, *order);
  return ruling;
}

}  // namespace reseq::engine
