#include "engine/journal/journal_batch.h"

#include <algorithm>
#include <variant>

#include "base/big_endian.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "engine/journal/entries.h"
#include "engine/journal/queue.h"

namespace reseq::engine {
namespace {

const JournalEntry* waiting_in(const RareList<JournalEntry>& journal, std::uint64_t number) {
  for (const JournalEntry& entry : journal)
    if (entry.state == EntryState::kWaiting && entry.number == number) return &entry;
  return nullptr;
}

}  // namespace

std::string journal_key(std::uint64_t number) {
  std::string rank;
  append_big_endian(number, rank);
  return codec::held_key(kJournalNumbers.gate, rank);
}

std::uint64_t number_of(std::string_view key) {
  RESEQ_ASSERT(key.size() > sizeof(std::uint64_t), "a held record that is none of the journal's");
  return read_big_endian(key.substr(key.size() - sizeof(std::uint64_t)));
}

std::uint64_t JournalBatch::next_number() {
  fresh_.push_back(kNoInput);
  return ++state_.journal_number;
}

void JournalBatch::tell(const Document& document, const JournalEntry& entry, const Decision& decision, EventKind kind) {
  if (kind == EventKind::kOutcome && !effects_.tells_of(decision.outcome)) return;
  if (kind == EventKind::kOutcome) told_of_.emplace(entry.number, told_.size());
  Event& event = told_.emplace_back();
  event.kind = kind;
  event.id = document.id;
  event.decision = decision;
  event.order = entry.order;
  event.expected = document.newest_order();
  event.targets = entry.targets;
  event.attempt = entry.attempt;
}

// With what waits for the other targets of its order, if that has not gone to work: it came with the same request, and
// whatever was asked for since was asked of that, too. The rows of what is held whole in this batch are made already.
void JournalBatch::get_in_from_queue(Document& document, JournalEntry entry) {
  Row& row = *document.now.row;
  const auto waits = std::find_if(row.journal.begin(), row.journal.end(), [&](const JournalEntry& one) {
    return one.state == EntryState::kWaiting && one.order == entry.order && one.attempt == 0 &&
           !held_whole_.contains(one.number);
  });
  if (waits != row.journal.end()) {
    waits->targets |= entry.targets;
  } else {
    entry.number = next_number();
    add(row, entry);
  }
  settle(document);
}

bool JournalBatch::has_entry_left(const Document& document) const {
  return document.now.row && document.now.row->journal.size() < context_.lanes.journal_entries_max;
}

// Of lanes whose document had too many orders here. Its record lies in `requests`, so it leaves with a batch behind
// this one.
void JournalBatch::take_from_queue() {
  const std::vector<Document*> changed = overlay_.changed();  // not journaled(): see close()
  for (Document* const document : changed) {
    if (!document->journaled) continue;
    const auto get_in = [&](const JournalEntry& entry) { get_in_from_queue(*document, entry); };
    while (auto entry = orders_.next_of_queue(*document)) get_in(*entry);
    const bool has_head = has_entry_left(*document);
    if (auto head = has_head ? orders_.queued_head(*document) : std::nullopt) get_in(*head);
  }
}

void JournalBatch::close() {
  if (orders_.any_queued()) take_from_queue();
  // Not in the order in which they were looked up: some were for nothing, and are not when it is decided again.
  for (const Document* document : overlay_.changed())
    if (document->journaled) close(overlay_.journaled()[document->journaled_at]);
  for (const Event& event : told_) effects_.tell(kNoInput, event.decision, event.id) = event;
}

void JournalBatch::close(const Overlay::Journaled& one) {
  const Document& document = *one.document;
  const RareList<JournalEntry> none;
  const RareList<JournalEntry>& now = document.now.row ? document.now.row->journal : none;
  for (const JournalEntry& entry : one.before)
    if (entry.state == EntryState::kWaiting && waiting_in(now, entry.number) == nullptr)
      if (const auto held = find_held(journal_key(entry.number))) {
        tell_source(entry.number, *held);
        remove(*held);
      }
  for (const JournalEntry& entry : now) {
    if (entry.state != EntryState::kWaiting || held_whole_.contains(entry.number)) continue;
    const JournalEntry* before = waiting_in(one.before, entry.number);
    if (before == nullptr) {
      const InputIndex input = input_of(entry.number);
      input == kNoInput ? refer(document, entry) : hold(document, entry, input);
    } else if (rank_of(*before, context_.dispatch) != rank_of(entry, context_.dispatch) ||
               before->targets != entry.targets || before->urgency.expires_at != entry.urgency.expires_at) {
      write_again(entry);
    }
  }
}

// Its row is at hand when it is removed. What waits by its place would have to be read again for this.
void JournalBatch::tell_source(std::uint64_t number, const Held& held) {
  const auto told = told_of_.find(number);
  if (told == told_of_.end()) return;
  told_[told->second].document_source = effects_.arena().copy(codec::document_source_of(held.row));
}

// `ages_from`: of a reference whose record may be taken by retention.
std::vector<IndexEntry> JournalBatch::index_entries(const JournalEntry& entry, std::optional<UnixMs> ages_from) {
  Arena& arena = effects_.arena();
  const DispatchRules& rules = context_.dispatch;
  const Rank rank = rank_of(entry, rules);
  std::vector<IndexEntry> entries;
  if (!rules.failures)
    entries.push_back({kDispatchIndex, arena.copy(encode_rank(rank))});
  else  // what is given up goes to nobody
    entries.push_back({kTargetsIndex, arena.copy(encode_targets_rank(
                                          is_timed_out(entry, rules) ? TargetSet() : entry.targets, rank))});
  if (entry.urgency.expires_at != UnixMs())
    entries.push_back({kExpireIndex, arena.copy(encode_date(entry.urgency.expires_at))});
  if (ages_from) entries.push_back({kAgeIndex, arena.copy(encode_date(std::max(*ages_from, UnixMs())))});
  return entries;
}

// By its place when bodies take as much as they may.
void JournalBatch::hold(const Document& document, const JournalEntry& entry, InputIndex input) {
  Hold hold;
  hold.input = input;
  hold.key = effects_.arena().copy(journal_key(entry.number));
  hold.note = document.id;
  hold.bytes = entry.request.work_bytes;
  const std::uint64_t held = view_.summary().counts[Count::kHeldBytes] + held_bytes_ + entry.request.record_bytes;
  hold.reference = held > context_.dispatch.held_bytes_max / 2;
  if (!hold.reference) held_bytes_ += entry.request.record_bytes;
  hold.entries = index_entries(entry, hold.reference ? std::optional(entry.request.timestamp) : std::nullopt);
  effects_.hold(std::move(hold));
}

// Its record was read again, and stands behind the inputs.
void JournalBatch::hold_whole(const Document& document, const JournalEntry& entry, const Held& held) {
  Hold hold;
  hold.input = effects_.let_through({held.key, document.id, {}, held.value});
  hold.key = effects_.arena().copy(held.key);
  hold.entries = index_entries(entry, {});
  hold.note = document.id;
  hold.bytes = held.row.bytes;
  hold.extensions = held.row.extensions;
  effects_.hold(std::move(hold));
  held_whole_.insert(entry.number);
}

// What was dispatched kept no body.
void JournalBatch::refer(const Document& document, const JournalEntry& entry) {
  codec::HeldRow held;
  held.partition = context_.partition;
  held.offset = entry.request.offset;
  held.timestamp = entry.request.timestamp;
  held.bytes = entry.request.work_bytes;
  held.reference = true;
  held.hash = entry.request.hash;
  held.record_bytes = entry.request.record_bytes;
  const auto row = codec::held_again(journal_key(entry.number), held, index_entries(entry, entry.request.timestamp),
                                     document.id, effects_.arena());
  rows_.put(row.key, *row.value);
}

void JournalBatch::write_again(const JournalEntry& entry) {
  const auto held = find_held(journal_key(entry.number));
  if (held) write_again(entry, *held, held->row.reference ? std::optional(entry.request.timestamp) : std::nullopt);
}

void JournalBatch::write_again(const JournalEntry& entry, const Held& held, std::optional<UnixMs> ages_from) {
  const auto row =
      codec::held_again(held.key, held.row, index_entries(entry, ages_from), held.row.note, effects_.arena());
  rows_.put(held.key, *row.value);
}

std::optional<JournalBatch::Held> JournalBatch::find_held(const std::string& key) const {
  const auto value = rows_.find(key);
  if (!value) return std::nullopt;
  const auto decoded = codec::decode_held(key, *value);
  const auto* const row = std::get_if<codec::HeldRow>(&decoded);
  return row == nullptr ? std::nullopt : std::optional(Held{key, *value, *row});
}

// With its further pieces.
void JournalBatch::remove(const Held& held) {
  for (std::uint32_t piece = 1; piece <= held.row.further_pieces; ++piece)
    rows_.remove(codec::piece_key(held.key, piece));
  rows_.remove(held.key);
}

}  // namespace reseq::engine
