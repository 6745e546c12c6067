// Ordered targets whose orders wait in the journal, are under way with an attempt, or fail. The journal keeps an order
// for all of its targets; here stands what that means for their places. Of a document it has lane_in_flight_max such
// orders at a time: its row must not grow with its versions. What comes then waits in its place, which has the entry
// for later.
#include <algorithm>

#include "engine/documents/apply.h"
#include "engine/documents/decide_register.h"
#include "engine/documents/orders.h"
#include "engine/journal/entries.h"
#include "engine/orders/orders_batch.h"

namespace reseq::engine {

void OrdersBatch::give_up(Document& document, const Order& order, TargetSet targets, const GaveUp& why) {
  for (const TargetNumber target : of_lanes(targets)) {
    GaveUp of_target = why;
    const Failure* const failure = document.known()->failure_of(target, order);
    if (!why.error.empty() && failure != nullptr) of_target.error = effects_.arena().copy(failure->error);
    end_place(document, order, target, &of_target);
  }
}

// Whoever answers shows that workers answer, as for other targets.
void OrdersBatch::end_entry(Document& document, const Order& order, TargetNumber target, EndedBy by) {
  if (!document.journaled || !document.now.row) return;
  if (!document.now.row->failures.empty()) forget_failures_at(*document.now.row, order, TargetSet::of(target));
  const JournalEntry* const found = entry_in_lane(*document.now.row, order, target);
  if (found == nullptr) return;
  const JournalEntry entry = *found;
  end_in_lane(*document.now.row, order, target);
  if (entry.state == EntryState::kProcessing && by != EndedBy::kNobody) {
    state_.journal_answered = std::max(state_.journal_answered, entry.number);
    if (by == EndedBy::kResult && entry.dispatched_at != UnixMs())
      state_.release_times.note(Milliseconds(context_.now.value() - entry.dispatched_at.value()));
  }
  overlay_.settle(document, context_);
}

// While more is held than may be, it is one at a time: nothing of its document stands in front of it in a strict lane
// then, so its result leaves at once, and what is held does not grow by it.
bool OrdersBatch::has_room_in_journal(const Document& document, TargetNumber target) const {
  const bool full = view_.summary().counts[Count::kHeldBytes] > context_.dispatch.held_bytes_max;
  const std::size_t most = full ? 1 : context_.lanes.lane_in_flight_max;
  std::size_t orders = 0;
  if (const Row* const row = document.known())
    for (const JournalEntry& entry : row->journal)
      if (entry.state != EntryState::kGone && entry.targets.contains(target)) ++orders;
  return orders < most;
}

// Nothing overtakes what waits for room already.
TargetSet OrdersBatch::without_room(const Document& document, TargetSet targets) const {
  TargetSet none;
  if (!context_.dispatch.keeps_under_way()) return none;
  const std::uint64_t number = document.known()->lane_number();
  for (const TargetNumber target : targets) {
    const bool queued = places_.any_queued() && places_.first_queued(number, target);
    if (queued || !has_room_in_journal(document, target)) none |= TargetSet::of(target);
  }
  return none;
}

void OrdersBatch::queue(const Document& document, const JournalEntry& entry, TargetSet targets) {
  for (const TargetNumber target : targets) {
    auto place = place_of(document, target, entry.order);
    RESEQ_ASSERT(place, "a queued order without a place");
    place->row.queued = entry;
    place->row.queued->targets = TargetSet::of(target);
    place->row.queued->for_all = false;
    place->row.queued->urgency.consolidate_until = UnixMs();
    place->row.document = document.known()->lane_number();
    places_.put(place->key, place->row);
  }
}

std::optional<JournalEntry> OrdersBatch::next_of_queue(const Document& document) {
  if (document.known() == nullptr) return std::nullopt;
  std::optional<Place> first;
  for (const TargetNumber target : of_lanes(document.known()->in_lanes())) {
    if (!first && has_room_in_journal(document, target))
      first = places_.first_queued(document.known()->lane_number(), target);
  }
  return first ? std::optional(take_from_queue(document, *first)) : std::nullopt;
}

// What is under way waits behind it, and may be lost: without a lease that is seen of a head alone, so it must not wait
// for one of these to end.
std::optional<JournalEntry> OrdersBatch::queued_head(const Document& document) {
  std::optional<Place> queued;
  for (const TargetNumber target : document.known()->in_lanes() & context_.lanes.targets.strict) {
    auto head = queued ? std::nullopt : places_.first({target, document.known()->lane_number()});
    if (head && head->row.queued) queued = std::move(head);
  }
  return queued ? std::optional(take_from_queue(document, *queued)) : std::nullopt;
}

std::optional<Place> OrdersBatch::queued_at(std::string_view key) const {
  auto place = places_.find(std::string(key));
  return place && place->row.queued ? place : std::nullopt;
}

void OrdersBatch::look_again(Place place, UnixMs sent) {
  place.row.queued->retry_at = sent;
  places_.put(place.key, place.row);
}

JournalEntry OrdersBatch::take_from_queue(const Document& document, const Place& first) {
  JournalEntry entry = *first.row.queued;
  entry.retry_at = UnixMs();
  entry.targets = TargetSet();
  for (const TargetNumber target : of_lanes(document.known()->in_lanes())) {
    auto place = place_of(document, target, entry.order);
    if (!place || !place->row.queued) continue;
    if (target != first.row.target && !has_room_in_journal(document, target)) continue;
    entry.targets |= TargetSet::of(target);
    place->row.queued.reset();
    place->row.document = 0;
    places_.put(place->key, place->row);
  }
  return entry;
}

// What comes for one that never was is about something else.
bool OrdersBatch::was_dispatched(const Document& document, const Place& place) const {
  if (place.row.dispatched_at != codec::kNever || place.row.ended || has_result(place)) return true;
  const JournalEntry* const entry = entry_in_lane(*document.known(), place.row.order, place.row.target);
  return entry != nullptr && entry->attempt > 0;
}

void OrdersBatch::sent(const Document& document, const Order& order, TargetSet targets) {
  for (const TargetNumber target : of_lanes(targets)) {
    auto place = place_of(document, target, order);
    if (!place) continue;
    place->row.dispatched_at = std::max(context_.now, UnixMs());
    if (place->row.due) place->row.due = due_from_dispatch(*place);
    places_.put(place->key, place->row);
  }
}

void OrdersBatch::came_back(const Document& document, const Order& order, TargetSet targets) {
  for (const TargetNumber target : of_lanes(targets)) {
    auto place = place_of(document, target, order);
    if (!place) continue;
    place->row.dispatched_at = codec::kNever;
    if (place->row.due) place->row.due = codec::kNever;
    places_.put(place->key, place->row);
  }
}

bool OrdersBatch::knows(const Document& document, const Order& order) const {
  if (document.known() == nullptr) return false;
  return std::any_of(document.known()->lanes.begin(), document.known()->lanes.end(),
                     [&](const Lane& lane) { return order <= lane.mark || place_of(document, lane.target, order); });
}

std::optional<Ruling> OrdersBatch::not_under_way(const Document& document, const Fail& command) const {
  const auto order = command_order(command, document.known(), state_.default_epoch);
  const Row* const row = document.known();
  if (!order || (row != nullptr && entry_in_lane(*row, *order, command.target) != nullptr)) return std::nullopt;
  const auto place = place_of(document, command.target, *order);
  const Lane* const lane = row != nullptr ? row->lane_of(command.target) : nullptr;
  Ruling ruling;
  const bool waits = place && !place->row.ended && !has_result(*place);
  if (waits && place->row.dispatched_at != codec::kNever)
    ruling = dead_letter(TableRow::kF6, Reason::kNoRequest);
  else if (place && !place->row.ended)
    ruling = drop(TableRow::kF0, Reason::kDuplicate);
  else if (place || (lane != nullptr && *order <= lane->mark))
    ruling = drop(TableRow::kF0, Reason::kStale);
  else
    ruling = by_policy(context_.policies.on_unregistered, TableRow::kF0, Reason::kUnregistered, true);
  set_order(ruling, *order);
  return ruling;
}

}  // namespace reseq::engine
