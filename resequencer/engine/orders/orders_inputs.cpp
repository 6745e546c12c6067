// Table O, the same as in docs/decision-tables.md, for each ordered target t by itself. The tables R, S and U do not
// see such targets, nor do barriers.
// o = order of the input. A place waits, has its result, or has ended without one.
//
// clang-format off
// O1  a request asks for t, and o is above the mark of its lane  -> a place: strict by order, total behind all others
// O2  a result, its place is the head of the lane                -> release; then those behind it that have results
// O3  a result, its place is not the head                        -> held; again: drop duplicate
// O4  the place ends without a result: UNREGISTER, a gap, an
//     operator, too_large, given up                              -> the lane passes it by
// O5  a result or an UNREGISTER without a place that waits       -> drop stale if passed, else policy on_unregistered
// clang-format on
//
// Passed: o is not above the mark, or its place has ended.
// The mark of a strict lane is the highest order that has left it: what comes later and is older can have no place any
// more. That of a total one is the highest order of the document that was given a place: a request that is sent again
// is no other version, and an older one behind a newer would be the last that is seen. A request that gets no place
// although it asks for nothing else is dropped: duplicate when its place is there or was the mark, else superseded or
// epoch_behind. A reprocess asks the other targets alone: it is a duplicate, also of a document that was forgotten.
// The input's outcome is the stronger one of both tables; where table R forwards, it says its row.
#include <algorithm>

#include "engine/documents/decide_register.h"
#include "engine/documents/orders.h"
#include "engine/journal/entries.h"
#include "engine/orders/orders_batch.h"
#include "engine/release.h"
#include "engine/stamp.h"

namespace reseq::engine {
namespace {

// A request that table R refused, or that is there once more under a new revision, gets no place.
bool may_enter(const Ruling& ruling) {
  const TableRow row = ruling.decision.table_row;
  return ruling.has_order && row != TableRow::kNone && row != TableRow::kR5 && row != TableRow::kR6;
}

// It goes to work for targets without a lane.
bool is_for_others(const Ruling& ruling) {
  return ruling.edit.requested && !ruling.edit.requested->forwarded.empty();
}

Lane& lane_in(Row& row, TargetNumber target, PartitionState& state) {
  std::size_t place = 0;
  for (Lane& lane : row.lanes) {
    if (lane.target == target) return lane;
    if (lane.target < target) ++place;
  }
  const std::uint64_t known = row.lane_number();
  row.lanes.insert(place, Lane{target, known != 0 ? known : ++state.lane_number, 0, Order()});
  return row.lanes.begin()[place];
}

}  // namespace

std::optional<Place> OrdersBatch::place_of(const Document& document, TargetNumber target, const Order& order) const {
  const Row* row = document.known();
  const Lane* lane = row != nullptr ? row->lane_of(target) : nullptr;
  if (lane == nullptr || lane->places == 0) return std::nullopt;
  return places_.find(codec::place_key(kOrdersNumbers.gate, codec::place_rank(target, lane->document, order)));
}

std::optional<Reason> OrdersBatch::refusal(const Document& document, const Registration& what) const {
  const TargetSet ordered = targets_asked(what, document.known(), context_) & ordered_;
  return ordered.empty() ? std::nullopt : std::optional(Reason::kOrderedTarget);
}

bool OrdersBatch::enter(Document& document, const Request& request, Offset position, const Row* seen, Ruling& ruling) {
  const TargetSet asked = targets_asked(request.what, seen, context_);
  const TargetSet ordered = asked & ordered_;
  if (ordered.empty() || !may_enter(ruling)) return false;
  const Order order = ruling.edit.order;
  TargetSet fresh;
  bool known = false;  // it has a place, had one that left last, or is no other version
  Order newest;        // of those that it is behind
  for (const TargetNumber target : ordered) {
    const Lane* lane = document.known() != nullptr ? document.known()->lane_of(target) : nullptr;
    if (request.reprocess || place_of(document, target, order) || (lane != nullptr && lane->mark == order))
      known = true;
    else if (lane == nullptr || order > lane->mark)
      fresh |= TargetSet::of(target);
    else
      newest = std::max(newest, lane->mark);
  }
  const bool behind = newest != Order();
  if (fresh.empty()) {
    const bool asks_nobody = request.reprocess && !is_for_others(ruling);
    if (asked != ordered || (ruling.edit.requested && !asks_nobody)) return behind && ruling.edit.requested;
    if (asks_nobody) ruling = Ruling();  // or it would leave a row that says nothing
    ruling.decision = {Outcome::kDropped, known ? Reason::kDuplicate : why_behind(order, newest), TableRow::kO1};
    set_order(ruling, order);
    return false;
  }
  const bool forwards = context_.intake == Intake::kInline;
  if (forwards && request.work_bytes > context_.work_bytes_max) {
    ruling = refuse(Reason::kTooLarge);
    set_order(ruling, order);
    return false;
  }
  const TargetSet others = asked.without(ordered);
  const bool takes = !others.empty() && (ruling.decision.outcome == Outcome::kForwarded ||
                                         ruling.decision.outcome == Outcome::kRegistered);
  if (!takes) ruling.decision = {forwards ? Outcome::kForwarded : Outcome::kRegistered, Reason::kNone, TableRow::kO1};
  if (!ruling.edit.requested) ruling.edit.requested = Accepted{position, request.hash, {}, content_of(request)};
  if (forwards) ruling.edit.requested->forwarded |= fresh;
  ruling.op = request.what.op;
  for (const TargetNumber target : fresh) add(document, target, order, position, request.work_bytes);
  return behind;
}

// The caller changes the row in another way, too, and settles it.
void OrdersBatch::add(Document& document, TargetNumber target, const Order& order, Offset position,
                      std::uint64_t bytes) {
  if (!document.now.row) document.now.row.emplace();
  Row& row = *document.now.row;
  Lane& lane = lane_in(row, target, state_);
  Place place;
  place.row.target = target;
  place.row.total = context_.lanes.targets.total.contains(target);
  place.row.order = order;
  place.row.id = document.id;
  place.row.number = ++state_.lane_number;
  place.row.request = position;
  place.row.bytes = std::max<std::uint64_t>(bytes, 1);
  const bool waits = context_.dispatch.keeps_under_way() || document.journaled;  // for its dispatch
  place.row.dispatched_at = waits ? codec::kNever : std::max(context_.now, UnixMs());
  place.key = codec::place_key(kOrdersNumbers.gate, codec::place_rank(target, lane.document, order));
  const bool alone = lane.places == 0 && !place.row.total;
  const auto first = alone ? std::nullopt : places_.first(LaneRows::lane_of(place));
  ++lane.places;
  if (place.row.total) lane.mark = order;
  if (alone) place.row.due = due_from_dispatch(place);  // it is the head of its lane, as most are
  places_.put(place.key, place.row);
  if (!alone) stand_behind(place, first);
}

// In a strict lane it may stand in front: what was the head is not any more.
void OrdersBatch::stand_behind(const Place& fresh, const std::optional<Place>& first) {
  if (first && (fresh.row.total || first->row.order < fresh.row.order)) return;
  touched_[LaneRows::lane_of(fresh)] = Reached::kBehindAGap;
  if (!first || !first->row.due) return;
  codec::PlaceRow other = first->row;
  other.due.reset();
  places_.put(first->key, other);
}

bool OrdersBatch::is_head(const Document& document, const Place& place) {
  const bool total = place.row.total;
  if (!total && document.known()->lane_of(place.row.target)->places == 1) return true;
  const auto first = places_.first(LaneRows::lane_of(place));
  return first && first->key == place.key;
}

Taken OrdersBatch::decide(Document& document, const SequenceResult& result, bool requests_read) {
  const auto order = command_order(result, document.known(), state_.default_epoch);
  auto place = order ? place_of(document, result.target, *order) : std::nullopt;
  if (place && !was_dispatched(document, *place)) place.reset();
  const Ruling ruling = judge(document, result, order, place);
  if (ruling.miss && !requests_read) return Taken::kRequestsFirst;
  const InputIndex input = effects_.number(ruling.decision);
  if (effects_.tells_of(ruling.decision.outcome)) {
    Event& event = effects_.tell(input, ruling.decision, document.id);
    event.order = order;
    event.expected = document.newest_order();
    event.target = result.target;
    event.attempt = result.attempt;
    if (ruling.edit.served) event.version = ruling.edit.version;
  }
  if (ruling.decision.outcome == Outcome::kReleased) {
    release(effects_, state_, ruling, input);
    document.now.row->last_version = ruling.edit.version;
    end_entry(document, *order, result.target, EndedBy::kResult);
    leave(*place, Reached::kBehindOneThatLeft);
  } else if (ruling.decision.outcome == Outcome::kHeld) {
    end_entry(document, *order, result.target, EndedBy::kResult);
    hold(*place, result, input);
  } else if (ruling.decision.outcome == Outcome::kDeadLettered) {
    effects_.send(input, DeadLetter{ruling.decision.reason, document.newest_order()});
    if (ruling.decision.table_row == TableRow::kO4) end(document, *order, TargetSet::of(result.target));
  }
  return Taken::kDecided;
}

Ruling OrdersBatch::judge(const Document& document, const SequenceResult& result, const std::optional<Order>& order,
                          const std::optional<Place>& place) {
  if (!order) return refuse(Reason::kEpochMissing);
  Ruling ruling;
  if (place && !place->row.ended) {
    ruling = has_result(*place) ? drop(TableRow::kO3, Reason::kDuplicate) : judge_waiting(result, document, *place);
  } else {
    const Lane* lane = document.known() != nullptr ? document.known()->lane_of(result.target) : nullptr;
    const bool passed = place || (lane != nullptr && *order <= lane->mark);
    ruling = passed ? drop(TableRow::kO5, Reason::kStale)
                    : by_policy(context_.policies.on_unregistered, TableRow::kO5, Reason::kUnregistered, true);
  }
  set_order(ruling, *order);
  return ruling;
}

// A version that cannot be given leaves everything as it is. What is held gets its own when it leaves.
Ruling OrdersBatch::judge_waiting(const SequenceResult& result, const Document& document, const Place& place) {
  if (result.output_bytes > context_.output_bytes_max[result.target.value()])
    return dead_letter(TableRow::kO4, Reason::kTooLarge);
  const auto stamp = next_stamp(state_, result.target, result.observed, context_.now, context_.max_clock_drift);
  if (const Reason* reason = std::get_if<Reason>(&stamp)) return refuse(*reason);
  Ruling ruling;
  ruling.op = result.op;
  if (!is_head(document, place)) {
    ruling.decision = {Outcome::kHeld, Reason::kNone, TableRow::kO3};
    return ruling;
  }
  ruling.decision = {Outcome::kReleased, Reason::kNone, TableRow::kO2};
  ruling.edit.served = result.target;
  ruling.edit.version = *std::get_if<Version>(&stamp);
  return ruling;
}

void OrdersBatch::hold(const Place& place, const SequenceResult& result, InputIndex input) {
  fresh_[place.key] = {input, result.output_bytes, {result.op, result.observed}};
}

// A list that may have been copied from `work` must not end what it does not mean: an ordered target is named alone.
TargetSet OrdersBatch::leaving(const Document& document, const Unregister& command, Ruling& ruling) {
  const TargetSet ordered = ordered_;
  const TargetSet named = command.everything ? ordered : command.targets & ordered;
  if (named.empty() || !ruling.has_order) return {};
  const Order order = ruling.edit.order;
  if (command.from_list) {
    ruling = refuse(Reason::kAmbiguousTargets);
    set_order(ruling, order);
    return {};
  }
  TargetSet waiting;
  TargetSet held;
  TargetSet passed;
  for (const TargetNumber target : named) {
    const auto place = place_of(document, target, order);
    const Lane* lane = document.known() != nullptr ? document.known()->lane_of(target) : nullptr;
    if (place && !place->row.ended)
      (has_result(*place) ? held : waiting) |= TargetSet::of(target);
    else if (place || (lane != nullptr && order <= lane->mark))
      passed |= TargetSet::of(target);
  }
  const bool unknown = !command.everything && named != (waiting | held | passed);
  const bool alone = !command.everything && command.targets == named;
  const bool removed = ruling.decision.outcome == Outcome::kRemoved;
  const bool none_of_others = command.everything && ruling.decision.table_row == TableRow::kU5;
  RowEdit edit = ruling.edit;
  if (!waiting.empty()) {
    if (!removed) ruling.decision = {Outcome::kRemoved, Reason::kNone, TableRow::kO4};
    if (none_of_others) ruling.miss = false;  // it is known here
  } else if (alone || none_of_others) {
    if (!held.empty())
      ruling = drop(TableRow::kO4, Reason::kDuplicate);
    else if (!passed.empty())
      ruling = drop(TableRow::kO5, Reason::kStale);
    else if (alone)
      ruling = by_policy(context_.policies.on_unregistered, TableRow::kO5, Reason::kUnregistered, true);
  }
  ruling.edit = edit;
  set_order(ruling, order);
  ruling.miss = ruling.miss || unknown;
  return waiting;
}

void OrdersBatch::end(Document& document, const Order& order, TargetSet targets) {
  for (const TargetNumber target : targets) end_place(document, order, target, nullptr);
}

// What is said on the output has its turn there, too.
void OrdersBatch::end_place(Document& document, const Order& order, TargetNumber target, const GaveUp* why) {
  auto place = place_of(document, target, order);
  if (!place) return;
  const bool marks = why != nullptr && why->reason != Reason::kTooLarge && context_.dispatch.markers;
  end_entry(document, order, target, why == nullptr ? EndedBy::kCommand : EndedBy::kNobody);
  if (is_head(document, *place)) {
    if (marks) mark(*place, *why);
    return leave(*place, Reached::kBehindOneThatLeft);
  }
  place->row.ended = true;
  place->row.due.reset();
  place->row.queued.reset();
  place->row.document = 0;
  if (marks) {
    place->row.reason = name_of(why->reason);
    place->row.attempts = why->attempts;
  }
  places_.put(place->key, place->row);
}

Ruling OrdersBatch::decide_skip(const Document& document, const SkipPlace& command) const {
  const auto order = command_order(command, document.known(), state_.default_epoch);
  if (!order) return refuse(Reason::kEpochMissing);
  const auto place = place_of(document, command.target, *order);
  const bool waits = place && !place->row.ended && !has_result(*place);
  const Lane* lane = document.known() != nullptr ? document.known()->lane_of(command.target) : nullptr;
  const bool is_over = place || (lane != nullptr && *order <= lane->mark);
  Ruling ruling = drop(TableRow::kControl, is_over ? Reason::kNoChange : Reason::kUnregistered);
  if (waits) ruling.decision = {Outcome::kApplied, Reason::kNone, TableRow::kControl};
  set_order(ruling, *order);
  return ruling;
}

}  // namespace reseq::engine
