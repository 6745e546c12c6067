// The queue of what waits: committed entries by the index, and between them those of documents that the batch has
// looked at, as they stand now.
#include <algorithm>
#include <utility>

#include "engine/journal/entries.h"
#include "engine/journal/journal_batch.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

// Before what could not leave is looked at again: its record, which may be readable then, and what nobody wants any
// more, which ends as soon as nothing undecided can want it longer.
constexpr Milliseconds kAfterUnreadable{5'000};
constexpr Milliseconds kAfterExpired{60'000};

struct Candidate {
  Rank rank;
  Document* document = nullptr;  // null: it is known by its number alone
};

bool is_earlier(const Candidate& a, const Candidate& b) {
  return a.rank < b.rank;
}

// Entries of the dispatch index in their order, a few at a time.
class Committed {
 public:
  explicit Committed(const StateView& view) : view_(view) {}

  // Null: there is none any more.
  [[nodiscard]] const Rank* first() {
    if (next_ == ranks_.size() && !ended_) read();
    return next_ < ranks_.size() ? &ranks_[next_] : nullptr;
  }
  void drop_first() { ++next_; }
  // On to the first of at least this rank.
  void skip_to(const Rank& rank) {
    while (next_ < ranks_.size() && ranks_[next_] < rank) ++next_;
    if (next_ == ranks_.size() && !ended_ && from_ < rank) from_ = rank;
  }

 private:
  static constexpr std::size_t kFirstPiece = 64;  // most turns need no more
  static constexpr std::size_t kPiece = 1024;
  void read() {
    ranks_.clear();
    next_ = 0;
    const std::size_t most = std::exchange(most_, kPiece);
    view_.index(kDispatchIndex, encode_rank(from_), most, [&](std::string_view entry, std::string_view) {
      ranks_.push_back(decode_rank(entry));
      return true;
    });
    ended_ = ranks_.size() < most;
    if (!ranks_.empty()) from_ = {ranks_.back().urgency, ranks_.back().process_at, ranks_.back().number + 1};
  }

  const StateView& view_;
  std::vector<Rank> ranks_;
  std::size_t next_ = 0;
  Rank from_;
  std::size_t most_ = kFirstPiece;
  bool ended_ = false;
};

Rank first_behind(std::uint16_t urgency) {
  return {static_cast<std::uint16_t>(urgency + 1), UnixMs(), 0};
}

// What waits, in the order of its ranks: committed entries, and between them those of documents that the batch has
// changed, as they stand now.
class Queue {
 public:
  Queue(const StateView& view, const Overlay& overlay, const DispatchRules& rules)
      : committed_(view), any_committed_(view.summary().counts[Count::kWaiting] > 0) {
    for (const auto& [document, before] : overlay.journaled()) {
      if (!document->changed || !document->now.row) continue;
      changed_.push_back(document);
      for (const JournalEntry& entry : document->now.row->journal)
        if (entry.state == EntryState::kWaiting) own_.push_back({rank_of(entry, rules), document});
    }
    std::sort(changed_.begin(), changed_.end());
    if (!std::is_sorted(own_.begin(), own_.end(), is_earlier)) std::sort(own_.begin(), own_.end(), is_earlier);
  }

  // None: nothing more waits.
  [[nodiscard]] std::optional<Candidate> next() {
    const Rank* const other = any_committed_ ? committed_.first() : nullptr;
    const bool own = next_own_ < own_.size() && (other == nullptr || own_[next_own_].rank <= *other);
    if (!own && other == nullptr) return std::nullopt;
    const Candidate found = own ? own_[next_own_++] : Candidate{*other, nullptr};
    if (other != nullptr && *other == found.rank) committed_.drop_first();
    return found;
  }
  // On to the next urgency: what is behind in this one is due later.
  void skip(std::uint16_t urgency) {
    const Rank behind = first_behind(urgency);
    committed_.skip_to(behind);
    while (next_own_ < own_.size() && own_[next_own_].rank < behind) ++next_own_;
  }
  // Its committed entries are not those that count.
  [[nodiscard]] bool has_changed(const Document* document) const {
    return std::binary_search(changed_.begin(), changed_.end(), document);
  }

 private:
  Committed committed_;
  bool any_committed_;
  std::vector<Candidate> own_;
  std::size_t next_own_ = 0;
  std::vector<const Document*> changed_;
};

}  // namespace

// Documents under way: what is committed, and what the batch has changed of it.
void JournalBatch::count_processing() {
  processing_.assign(UINT8_MAX + 1, 0);
  processing_all_ = 0;
  for (const PriorityCount& one : view_.summary().priorities) {
    processing_[one.priority] = static_cast<std::int64_t>(one.processing);
    processing_all_ += static_cast<std::int64_t>(one.processing);
  }
  for (const auto& [document, before] : overlay_.journaled()) {
    note_processing(most_urgent(before, EntryState::kProcessing), -1);
    if (document->now.row) note_processing(most_urgent(document->now.row->journal, EntryState::kProcessing), 1);
  }
}

void JournalBatch::note_processing(std::optional<std::uint8_t> priority, std::int64_t documents) {
  if (!priority) return;
  processing_[*priority] += documents;
  processing_all_ += documents;
}

bool JournalBatch::more_urgent_is_processing(std::uint8_t priority) const {
  return std::any_of(processing_.begin(), processing_.begin() + priority, [](std::int64_t count) { return count > 0; });
}

// In the order of their ranks: what is due and not blocked leaves while there is room. What may not leave is passed
// over, but for an idle one: what is behind it is no more urgent. What could not leave for long is put off, or each
// batch would walk over it.
void JournalBatch::dispatch(Turn& turn) {
  count_processing();
  const DispatchRules& rules = context_.dispatch;
  Queue queue(view_, overlay_, rules);
  unsigned came_back = UINT16_MAX;  // most urgent priority of those that lost their leases in this batch
  while (const auto next = queue.next()) {
    if (next->rank.process_at > turn.until()) {
      queue.skip(next->rank.urgency);
      continue;
    }
    Document* document = next->document;
    std::optional<Held> held;
    if (document == nullptr) {
      held = find_held(journal_key(next->rank.number));
      if (!held) continue;
      document = &overlay_.find_copied(held->row.note);
      if (!document->now.row || queue.has_changed(document)) continue;
    }
    const JournalEntry* entry = waiting_with(*document->now.row, next->rank.number);
    if (entry == nullptr) continue;
    const bool ends = is_timed_out(*entry, rules);
    if (!ends && is_blocked(*document->now.row, *entry, rules)) continue;
    if (entry->number > first_number_ && input_of(entry->number) == kNoInput) {
      // Its record is not there: it leaves with the next batch.
      if (!is_stuck(*entry, rules) && !comes_too_late(*entry, turn.until()))
        came_back = std::min<unsigned>(came_back, entry->urgency.priority);
      continue;
    }
    if (rules.journal && !ends) {
      const std::uint8_t priority = entry->urgency.priority;
      const bool idle = priority >= rules.idle_from_priority;
      if (idle && (came_back < priority || more_urgent_is_processing(priority))) return;
      const bool has_room = processing_all_ < static_cast<std::int64_t>(rules.in_flight_max);
      if (!has_room && !document->now.row->processing()) return;
    }
    if (comes_too_late(*entry, turn.until())) {
      if (expired_left_ || !put_off(turn, *document, next->rank.number, kAfterExpired)) return;
      continue;
    }
    if (!leave(turn, *document, next->rank.number, std::move(held))) return;
  }
}

bool JournalBatch::leave(Turn& turn, Document& document, std::uint64_t number, std::optional<Held> held) {
  const JournalEntry entry = *waiting_with(*document.now.row, number);
  const DispatchRules& rules = context_.dispatch;
  InputIndex input = input_of(number);
  std::optional<Offset> gone;
  if (input != kNoInput) {
    if (!turn.take(0)) return false;  // its bytes are an input's
  } else {
    if (!held) held = find_held(journal_key(number));
    if (!held) return true;
    const codec::HeldRow& row = held->row;
    if (row.reference && turn.found(row) == References::Found::kUnreadable) {
      if (!put_off(turn, document, number, kAfterUnreadable)) return false;
      unreadable_.push_back(row.offset);
      return true;
    }
    if (!turn.take(row)) return false;
    if (row.reference && turn.found(row) == References::Found::kGone) gone = row.offset;
    input = effects_.let_through({held->key, document.id, gone, held->value});
    remove(*held);
  }
  ++done_;
  Row& row = *document.now.row;
  const Standing at = standing_at(&row, entry.order);
  const bool again = entry.attempt > 0;
  const bool below = below_barrier(&row, entry.order);
  const TargetSet moved = again || below ? TargetSet() : entry.targets.without(at.newer | at.here());
  const TargetSet targets = moved | (below ? TargetSet() : entry.targets & at.pending);
  const bool known = at.group != nullptr && !below;
  const auto before = most_urgent(row.journal, EntryState::kProcessing);
  end(document, number);
  if (targets.empty()) {
    mark_requested(*document.now.row, entry.order);
    decide(document, entry, input, {Outcome::kDropped, known ? Reason::kDuplicate : Reason::kSuperseded, {}});
    if (entry.for_all) raise_barrier(document, entry.order);
  } else if (gone || entry.request.work_bytes > context_.work_bytes_max || is_timed_out(entry, rules)) {
    const Reason reason = gone ? Reason::kBodyGone : is_timed_out(entry, rules) ? Reason::kTimedOut : Reason::kTooLarge;
    decide(document, entry, input, {Outcome::kDeadLettered, reason, {}});
    effects_.send(input, DeadLetter{reason, document.newest_order(), gone ? entry.request.record_bytes : 0});
    RowEdit edit;
    edit.order = entry.order;
    edit.removed = targets;
    overlay_.change(document, edit, context_);
  } else {
    send(document, entry, input, moved, targets);
  }
  note_processing(before, -1);
  note_processing(most_urgent(document.now.row->journal, EntryState::kProcessing), 1);
  return true;
}

bool JournalBatch::put_off(Turn& turn, Document& document, std::uint64_t number, Milliseconds by) {
  if (!turn.take(0)) return false;
  ++done_;
  waiting_with(*document.now.row, number)->retry_at = UnixMs(context_.now.value() + by.value());
  settle(document);
  return true;
}

// From here on all tables see it.
void JournalBatch::send(Document& document, const JournalEntry& entry, InputIndex input, TargetSet moved,
                        TargetSet targets) {
  const DispatchRules& rules = context_.dispatch;
  decide(document, entry, input, {Outcome::kForwarded, Reason::kNone, {}});
  Row& row = *document.now.row;
  if (entry.attempt == 0) {
    RowEdit edit;
    edit.order = entry.order;
    edit.moved = moved;
    const bool newest = row.requested && row.requested->order == entry.order;
    edit.requested = Accepted{entry.request.offset, newest ? row.requested->hash : PayloadHash(), targets};
    overlay_.change(document, edit, context_);
    if (entry.for_all) raise_barrier(document, entry.order);
  } else {
    overlay_.note_forwarded(document, entry.order, targets);
  }
  JournalEntry sent = entry;
  sent.state = EntryState::kProcessing;
  sent.targets = targets;
  for (const JournalEntry& other : row.journal)
    if (other.order == entry.order) sent.attempt = std::max(sent.attempt, other.attempt);
  ++sent.attempt;
  sent.taken_over = TargetSet();
  sent.retry_at = UnixMs();
  sent.urgency.consolidate_until = UnixMs();
  if (rules.journal) {
    sent.number = ++state_.journal_number;
    fresh_.resize(sent.number - first_number_, kNoInput);
    sent.lease_until = UnixMs(context_.now.value() + rules.lease.value());
    sent.dispatched_at = std::max(context_.now, UnixMs());
    add(*document.now.row, sent);
    settle(document);
  }
  const Dispatched dispatched{sent.attempt, sent.lease_until};
  const auto kept = effects_.arena().copy(std::span<const Dispatched>(&dispatched, 1));
  effects_.send(input, Forward{entry.order, entry.op, targets, kept.data()});
}

// What was said of its input, or is said of what waited.
void JournalBatch::decide(const Document& document, const JournalEntry& entry, InputIndex input, Decision decision) {
  if (input_of(entry.number) == kNoInput) {
    if (!effects_.tells_of(decision.outcome)) return;
    Event& event = effects_.tell(input, decision, document.id);
    event.order = entry.order;
    event.expected = document.newest_order();
    return;
  }
  decision.table_row = effects_.decided(input).table_row;
  effects_.decide_again(input, decision, document.id, entry.order, document.newest_order());
}

// Only when nothing waits below it for a result: that waits for something newer, and goes on.
void JournalBatch::raise_barrier(Document& document, const Order& order) {
  const Row& row = *document.now.row;
  const bool pending_below = std::any_of(row.groups.begin(), row.groups.end(), [&](const Group& group) {
    return group.order < order && !group.pending.empty();
  });
  if (pending_below) return leave_barrier(document, order);
  if (row.barrier && *row.barrier >= order) return;
  RowEdit edit;
  edit.order = order;
  edit.raises_barrier = true;
  overlay_.change(document, edit, context_);
}

void JournalBatch::end(Document& document, std::uint64_t number) {
  document.now.row->journal.erase_if(
      [&](const JournalEntry& one) { return one.state == EntryState::kWaiting && one.number == number; });
  settle(document);
}

}  // namespace reseq::engine
