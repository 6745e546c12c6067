#include <algorithm>
#include <variant>

#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "engine/journal/entries.h"
#include "engine/journal/journal_batch.h"

namespace reseq::engine {
namespace {

constexpr std::int64_t kBackoffMs = 1'000;
constexpr std::int64_t kBackoffMsMax = 600'000;
// Before a record that could not be read is tried again, so that retention cannot take it.
constexpr std::int64_t kReadAgainMs = 60'000;

// The first time at once, then doubling; of one that is stuck the longest.
std::int64_t backoff_ms(const JournalEntry& entry, const DispatchRules& rules) {
  if (is_timed_out(entry, rules)) return 0;
  if (is_stuck(entry, rules)) return kBackoffMsMax;
  const std::uint32_t lost = entry.timeouts + entry.losses;
  if (lost < 2) return 0;
  constexpr std::uint32_t kDoublings = 10;  // then it is above the maximum
  return std::min(kBackoffMs << std::min(lost - 2, kDoublings), kBackoffMsMax);
}

constexpr std::size_t kDueMax = 1'000;  // of one turn: more than it may do

// What an index has up to this date, by the keys of its rows. As many whatever the turn may do: some of them are not
// due any more behind the inputs, and with so many rows as were done the same is done again.
std::vector<std::string> due(const StateView& view, std::uint8_t index, const Turn& turn) {
  std::vector<std::string> keys;
  view.index(index, {}, kDueMax, [&](std::string_view entry, std::string_view key) {
    if (decode_date(entry) > turn.until()) return false;
    keys.emplace_back(key);
    return true;
  });
  return keys;
}

}  // namespace

void JournalBatch::take(Turn& turn) {
  switch (turn.kind()) {
    case kLeaseTurn:
      return take_leases(turn);
    case kExpireTurn:
      return take_expired(turn);
    case kAgeTurn:
      return take_aged(turn);
    default:
      return dispatch(turn);
  }
}

// Null: the disk cannot be read, and nothing of the batch will be.
Document* JournalBatch::document_of_key(std::string_view row_key) {
  const auto value = view_.row(row_key);
  if (!value) return nullptr;
  const auto decoded = codec::decode_row(row_key, *value);
  const auto* row = std::get_if<codec::DocumentRow>(&decoded);
  return row == nullptr ? nullptr : &overlay_.find_copied(row->id);
}

void JournalBatch::take_leases(Turn& turn) {
  for (const std::string& key : due(view_, kLeaseIndex, turn)) {
    Document* document = document_of_key(key);
    if (document == nullptr || !document->now.row) continue;
    std::vector<JournalEntry> lost;
    for (const JournalEntry& entry : document->now.row->journal)
      if (entry.state == EntryState::kProcessing && entry.lease_until != UnixMs() && entry.lease_until <= turn.until())
        lost.push_back(entry);
    if (lost.empty()) continue;
    if (!turn.take(0)) return;
    ++done_;
    for (const JournalEntry& entry : lost) lose(*document, entry);
  }
}

// It waits again. Nobody else having answered, the pipeline is down, and that counts against no document.
void JournalBatch::lose(Document& document, JournalEntry entry) {
  Row& row = *document.now.row;
  row.journal.erase_if(
      [&](const JournalEntry& one) { return one.state == EntryState::kProcessing && one.number == entry.number; });
  const JournalEntry lost = entry;
  ++(state_.journal_answered > entry.number ? entry.timeouts : entry.losses);
  const std::int64_t backoff = backoff_ms(entry, context_.dispatch);
  if (backoff > 0) entry.retry_at = UnixMs(context_.now.value() + backoff);
  tell(document, entry, {Outcome::kWaiting, Reason::kNone, TableRow::kNone}, EventKind::kLeaseLost);
  if (context_.dispatch.failures) entry.targets = entry.targets.without(context_.potent);
  if (!entry.targets.empty()) {
    wait_again(document, entry);
    if (!entry.targets.empty()) add(row, entry);
  }
  if (context_.dispatch.failures) give_up_lost(document, lost);
  settle(document);
}

// For what nothing newer waits for already; of that what is left of the entry is to be added.
void JournalBatch::wait_again(Document& document, JournalEntry& entry) {
  entry.state = EntryState::kWaiting;
  entry.lease_until = entry.dispatched_at = UnixMs();
  entry.urgency.consolidate_until = consolidate_until(entry.urgency.inserted, consolidate(entry.targets));
  entry.number = next_number();
  orders_.came_back(document, entry.order, entry.targets);
  for (JournalEntry& newer : document.now.row->journal) {
    if (newer.state != EntryState::kWaiting || newer.order <= entry.order) continue;
    const TargetSet taken = (entry.targets & newer.targets).without(orders_.of_lanes(entry.targets));
    if (taken.empty()) continue;
    take_over(newer.urgency, entry.urgency, context_.dispatch);
    newer.taken_over |= taken;
    entry.targets = entry.targets.without(taken);
  }
  if (is_for_lanes(entry.targets)) entry.urgency.consolidate_until = UnixMs();
}

void JournalBatch::take_expired(Turn& turn) {
  const std::vector<std::string> keys = due(view_, kExpireIndex, turn);
  for (const std::string& key : keys) {
    const auto held = find_held(key);
    if (!held) continue;
    Document& document = overlay_.find_copied(held->row.note);
    if (!document.now.row) continue;
    const std::uint64_t number = number_of(key);
    const JournalEntry* entry = waiting_with(*document.now.row, number);
    if (entry == nullptr || !comes_too_late(*entry, turn.until())) continue;
    expired_left_ = !turn.take(0);
    if (expired_left_) return;
    ++done_;
    expire(document, number);
  }
  expired_left_ = keys.size() == kDueMax && turn.rows() > 0;
}

// What waits in its lane alone gets in, though there is no room: here it is held whole soon. Where not even that goes,
// it must not stay in front of those of other documents.
bool JournalBatch::let_in_aged(std::string_view place_key, Turn& turn) {
  const auto place = orders_.queued_at(place_key);
  if (!place || codec::ages_from(*place->row.queued) > turn.until()) return true;
  Document& document = overlay_.find_copied(place->row.id);
  if (!document.now.row) return true;
  if (!turn.take(0)) return false;
  ++done_;
  if (!has_entry_left(document)) {
    orders_.look_again(*place, UnixMs(turn.until().value() + kReadAgainMs));
    return true;
  }
  overlay_.note_journal(document);
  get_in_from_queue(document, orders_.take_from_queue(document, *place));
  return true;
}

// What waits by its place is held whole from now on, whatever bodies take. What cannot be read is tried again later;
// what is gone stays as it is until it is to leave: something newer may take its place.
void JournalBatch::take_aged(Turn& turn) {
  for (const std::string& key : due(view_, kAgeIndex, turn)) {
    if (key.front() == static_cast<char>(codec::KeyType::kPlace)) {
      if (!let_in_aged(key, turn)) return;
      continue;
    }
    const auto held = find_held(key);
    if (!held) continue;
    Document& document = overlay_.find_copied(held->row.note);
    if (!document.now.row) continue;
    const JournalEntry* entry = waiting_with(*document.now.row, number_of(key));
    if (entry == nullptr) continue;
    const References::Found found = turn.found(held->row);
    const bool gone = found == References::Found::kGone;
    if (gone || found == References::Found::kUnreadable) {
      if (!turn.take(0)) return;
      (gone ? missing_ : unreadable_).push_back(held->row.offset);
      const UnixMs later(turn.until().value() + kReadAgainMs);
      write_again(*entry, *held, gone ? std::nullopt : std::optional(later));
    } else {
      if (!turn.take(held->row)) return;
      hold_whole(document, *entry, *held);
    }
    ++done_;
  }
}

}  // namespace reseq::engine
