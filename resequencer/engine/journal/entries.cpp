#include "engine/journal/entries.h"

#include <algorithm>

#include "engine/documents/apply.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

// Dates are at least 0: an index keeps them as bytes.
UnixMs not_negative(UnixMs date) {
  return std::max(date, UnixMs());
}

UnixMs later(UnixMs date, Milliseconds by) {
  return UnixMs(date.value() > INT64_MAX - by.value() ? INT64_MAX : date.value() + by.value());
}

// Who asked for none is to go at once: the date that stands there is that of its own insertion.
UnixMs asked_for(const Urgency& urgency) {
  return urgency.process_at > urgency.inserted ? urgency.process_at : UnixMs();
}

}  // namespace

Row as_if_dispatched(const Row& row, const Context& context, bool with_gone) {
  std::optional<Row> as_if = row;
  as_if->journal.clear();
  std::vector<const JournalEntry*> rising;
  // Below a barrier that was raised since nothing is dispatched any more.
  for (const JournalEntry& entry : row.journal)
    if ((entry.state == EntryState::kWaiting || (with_gone && entry.state == EntryState::kGone)) &&
        !below_barrier(&row, entry.order))
      rising.push_back(&entry);
  std::sort(rising.begin(), rising.end(),
            [](const JournalEntry* a, const JournalEntry* b) { return a->order < b->order; });
  for (const JournalEntry* entry : rising) {
    const Standing at = standing_at(&*as_if, entry->order);
    RowEdit edit;
    edit.order = entry->order;
    const TargetSet moved = entry->targets.without(at.newer | at.here() | context.lanes.targets.all());
    (entry->state == EntryState::kGone ? edit.removed : edit.moved) = moved;
    if (!edit.nothing()) apply(edit, context, as_if);
    mark_requested(*as_if, entry->order);
  }
  // At the end: what it stops has moved on by then.
  const std::optional<Order> barrier = with_gone ? waiting_barrier(row) : std::nullopt;
  if (barrier && (!as_if->barrier || *as_if->barrier < *barrier)) as_if->barrier = barrier;
  return std::move(*as_if);
}

void mark_requested(Row& row, const Order& order) {
  for (Group& group : row.groups)
    if (group.order == order) group.requested = true;
}

std::optional<Order> waiting_barrier(const Row& row) {
  std::optional<Order> barrier;
  for (const JournalEntry& entry : row.journal)
    if (entry.for_all && entry.state != EntryState::kProcessing && (!barrier || *barrier < entry.order))
      barrier = entry.order;
  return barrier;
}

JournalEntry* waiting_with(Row& row, std::uint64_t number) {
  for (JournalEntry& entry : row.journal)
    if (entry.state == EntryState::kWaiting && entry.number == number) return &entry;
  return nullptr;
}

UnixMs consolidate_until(UnixMs inserted, Milliseconds consolidate) {
  return consolidate == Milliseconds() ? UnixMs() : later(inserted, consolidate);
}

Urgency urgency_of(const Wish& wish, Milliseconds consolidate, const Context& context) {
  Urgency urgency;
  urgency.priority = wish.priority.value_or(context.dispatch.default_priority);
  urgency.inserted = not_negative(std::min(wish.place.timestamp, context.now));
  urgency.process_at = std::max(urgency.inserted, wish.process_at.value_or(UnixMs()));
  urgency.expires_at = wish.expires_at.value_or(UnixMs());
  urgency.consolidate_until = consolidate_until(urgency.inserted, consolidate);
  return urgency;
}

void take_over(Urgency& urgency, const Urgency& older, const DispatchRules& rules) {
  const UnixMs asked = std::max(asked_for(urgency), asked_for(older));
  urgency.inserted = std::min(urgency.inserted, older.inserted);
  urgency.priority = std::min(urgency.priority, older.priority);
  const UnixMs latest = later(urgency.inserted, rules.process_at_max);
  urgency.process_at = std::max(urgency.inserted, std::min(asked, latest));
  urgency.consolidate_until = std::min(urgency.consolidate_until, older.consolidate_until);
  const bool never = urgency.expires_at == UnixMs() || older.expires_at == UnixMs();
  urgency.expires_at = never ? UnixMs() : std::max(urgency.expires_at, older.expires_at);
}

void add(Row& row, const JournalEntry& entry) {
  if (entry.state != EntryState::kWaiting) return row.journal.push_back(entry);
  const JournalEntry* const behind = std::find_if(
      row.journal.begin(), row.journal.end(),
      [&](const JournalEntry& other) { return other.state != EntryState::kWaiting || entry.order < other.order; });
  row.journal.insert(static_cast<std::size_t>(behind - row.journal.begin()), entry);
}

const JournalEntry* under_way_for(const Row& row, const Order& order, TargetNumber target) {
  for (const JournalEntry& entry : row.journal)
    if (entry.state == EntryState::kProcessing && entry.order == order && entry.targets.contains(target)) return &entry;
  return nullptr;
}

const JournalEntry* entry_in_lane(const Row& row, const Order& order, TargetNumber target) {
  for (const JournalEntry& entry : row.journal)
    if (entry.order == order && entry.state != EntryState::kGone && entry.targets.contains(target)) return &entry;
  return nullptr;
}

void end_in_lane(Row& row, const Order& order, TargetNumber target) {
  for (JournalEntry& entry : row.journal)
    if (entry.order == order && entry.state != EntryState::kGone)
      entry.targets = entry.targets.without(TargetSet::of(target));
  row.journal.erase_if([](const JournalEntry& one) { return one.state != EntryState::kGone && one.targets.empty(); });
}

Reason reason_of(const Failure& failure) {
  return failure.effect_unknown ? Reason::kEffectUnknown : Reason::kFailed;
}

bool is_blocked(const Row& row, const JournalEntry& entry, const DispatchRules& rules) {
  if (!rules.journal || !rules.one_at_a_time) return false;
  const TargetSet in_lanes = row.in_lanes();
  if (in_lanes.covers(entry.targets) && !entry.targets.empty()) return false;
  return std::any_of(row.journal.begin(), row.journal.end(), [&](const JournalEntry& other) {
    return other.takes_room() && other.order < entry.order && !in_lanes.covers(other.targets);
  });
}

std::optional<std::uint8_t> most_urgent(const RareList<JournalEntry>& journal, EntryState state) {
  std::optional<std::uint8_t> most;
  for (const JournalEntry& entry : journal)
    if (entry.state == state && (state != EntryState::kProcessing || entry.takes_room()) &&
        (!most || entry.urgency.priority < *most))
      most = entry.urgency.priority;
  return most;
}

}  // namespace reseq::engine
