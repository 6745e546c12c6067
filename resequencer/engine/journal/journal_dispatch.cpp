// The queue of what waits: committed entries by the index, and between them those of documents that the batch has
// looked at, as they stand now.
#include <algorithm>
#include <utility>

#include "engine/failures/breakers.h"
#include "engine/journal/entries.h"
#include "engine/journal/journal_batch.h"
#include "engine/journal/queue.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

// Before what could not leave is looked at again: its record, which may be readable then, and what nobody wants any
// more, which ends as soon as nothing undecided can want it longer.
constexpr Milliseconds kAfterUnreadable{5'000};
constexpr Milliseconds kAfterExpired{60'000};

Reason why_given_up(const Row& row, const JournalEntry& entry, const DispatchRules& rules) {
  if (entry.timeouts == kGivenUp) {
    const Failure* failure = row.failure_of(entry.targets.first(), entry.order);
    return failure != nullptr ? reason_of(*failure) : Reason::kFailed;
  }
  return is_timed_out(entry, rules) ? Reason::kTimedOut : Reason::kTooLarge;
}

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

TargetSet JournalBatch::blocked_now(const JournalEntry& entry) const {
  if (state_.breakers.empty() || is_timed_out(entry, context_.dispatch)) return {};
  return entry.targets & blocked_targets(state_.breakers, context_.now);
}

// In the order of their ranks: what is due and not blocked leaves while there is room. What may not leave is passed
// over, but for an idle one: what is behind it is no more urgent. What could not leave for long is put off, or each
// batch would walk over it; what waits for a target that cannot be reached stands aside.
void JournalBatch::dispatch(Turn& turn) {
  count_processing();
  const DispatchRules& rules = context_.dispatch;
  Queue queue(view_, overlay_, rules);
  bool new_waits = !rules.journal;
  CameBack came_back;  // they lost their leases in this batch
  while (true) {
    if (!state_.breakers.empty()) queue.block(blocked_targets(state_.breakers, context_.now));
    const auto next = queue.next();
    if (!next) return;
    if (new_waits && next->rank.urgency >= kFirstRank) {  // what is given up goes before
      new_waits = false;
      if (!dispatch_new(turn)) return;
    }
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
    if (!next->targets_known && blocked_now(*entry) == entry->targets) {
      if (!move_to_targets(turn, *entry, *held)) return;
      continue;
    }
    if (may_not_leave(*document, *entry)) continue;
    if (entry->number > first_number_ && input_of(entry->number) == kNoInput) {
      // Its record is not there: it leaves with the next batch.
      if (!is_stuck(*entry, rules) && !comes_too_late(*entry, turn.until())) came_back.push_back(*entry);
      continue;
    }
    if (rules.journal && !is_timed_out(*entry, rules)) {
      const std::uint8_t priority = entry->urgency.priority;
      if (priority >= rules.idle_from_priority && more_urgent_waits_or_is_processing(priority, came_back)) return;
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

// Without a journal what has just come stands behind nothing, however much there is to be tried again. What may not
// leave now is left to the queue.
bool JournalBatch::dispatch_new(Turn& turn) {
  std::vector<std::pair<std::uint64_t, Document*>> waits;
  for (const auto& [document, before] : overlay_.journaled()) {
    if (!document->now.row) continue;
    for (const JournalEntry& entry : document->now.row->journal)
      if (entry.state == EntryState::kWaiting && input_of(entry.number) != kNoInput)
        waits.emplace_back(entry.number, document);
  }
  std::sort(waits.begin(), waits.end());
  for (const auto& [number, document] : waits) {
    const JournalEntry* const entry = waiting_with(*document->now.row, number);
    const bool due = entry != nullptr && rank_of(*entry, context_.dispatch).process_at <= turn.until();
    if (!due || may_not_leave(*document, *entry) || comes_too_late(*entry, turn.until())) continue;
    if (!leave(turn, *document, number, std::nullopt)) return false;
  }
  return true;
}

// It began to wait without failures: from now on it is passed over with all others of its targets.
bool JournalBatch::move_to_targets(Turn& turn, const JournalEntry& entry, const Held& held) {
  if (!turn.take(0)) return false;
  ++done_;
  write_again(entry, held, held.row.reference ? std::optional(entry.request.timestamp) : std::nullopt);
  return true;
}

bool JournalBatch::may_not_leave(const Document& document, const JournalEntry& entry) const {
  const DispatchRules& rules = context_.dispatch;
  if (is_timed_out(entry, rules)) return false;
  return is_blocked(*document.now.row, entry, rules) || blocked_now(entry) == entry.targets;
}

bool JournalBatch::more_urgent_waits_or_is_processing(std::uint8_t priority, const CameBack& came_back) const {
  const bool waits = std::any_of(came_back.begin(), came_back.end(), [&](const JournalEntry& one) {
    return one.urgency.priority < priority && blocked_now(one) != one.targets;
  });
  return waits ||
         std::any_of(processing_.begin(), processing_.begin() + priority, [](std::int64_t count) { return count > 0; });
}

bool JournalBatch::leave(Turn& turn, Document& document, std::uint64_t number, std::optional<Held> held) {
  const JournalEntry entry = *waiting_with(*document.now.row, number);
  const DispatchRules& rules = context_.dispatch;
  const Standing at = standing_at(&*document.now.row, entry.order);
  const bool below = below_barrier(&*document.now.row, entry.order);
  const TargetSet in_lanes = orders_.of_lanes(entry.targets);
  const TargetSet wanted = below ? TargetSet() : entry.targets.without(in_lanes);
  const TargetSet moved = wanted.without(at.newer | at.here());
  const TargetSet targets = moved | (wanted & at.pending) | in_lanes;
  const TargetSet behind = targets & blocked_now(entry);
  if (!behind.empty() && behind == targets) return stay(turn, document, number, behind);
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
  const bool known = at.group != nullptr && !below;
  const auto before = most_urgent(document.now.row->journal, EntryState::kProcessing);
  erase(document, number);  // whatever becomes of it settles the document
  if (targets.empty()) {
    settle(document);
    mark_requested(*document.now.row, entry.order);
    decide(document, entry, input, {Outcome::kDropped, known ? Reason::kDuplicate : Reason::kSuperseded, {}});
    if (entry.for_all) raise_barrier(document, entry.order);
  } else if (gone || entry.request.work_bytes > context_.work_bytes_max || is_timed_out(entry, rules)) {
    dead_letter(document, entry, input, targets, gone.has_value());
  } else {
    const std::uint32_t attempt = send(document, entry, input, moved.without(behind), targets.without(behind));
    if (!behind.empty()) keep_rest(document, entry, behind, attempt);
  }
  note_processing(before, -1);
  note_processing(most_urgent(document.now.row->journal, EntryState::kProcessing), 1);
  return true;
}

// It is given up, with a dead letter.
void JournalBatch::dead_letter(Document& document, const JournalEntry& entry, InputIndex input, TargetSet targets,
                               bool gone) {
  const Reason reason = gone ? Reason::kBodyGone : why_given_up(*document.now.row, entry, context_.dispatch);
  decide(document, entry, input, {Outcome::kDeadLettered, reason, {}}, targets, entry.attempt);
  GivenUp given_up;
  if (reason != Reason::kTooLarge) given_up = last_failure(*document.now.row, entry, targets);
  if (gone) given_up.gone = entry.request.record_bytes;
  effects_.send(input, DeadLetter{reason, document.newest_order(), effects_.kept(given_up)});
  RowEdit edit;
  edit.order = entry.order;
  edit.removed = targets.without(orders_.of_lanes(targets));
  edit.fails = reason == Reason::kFailed || reason == Reason::kEffectUnknown || reason == Reason::kTimedOut;
  if (reason != Reason::kTooLarge)
    edit.version = mark(document, entry.order, reason, entry.attempt, edit.removed, input);
  if (reason == Reason::kTimedOut) note_timed_out(document, entry, targets);
  if (!edit.removed.empty()) overlay_.change(document, edit, context_);
  orders_.give_up(document, entry.order, targets, {input, reason, entry.attempt, given_up.error});
  settle(document);
}

// Nothing of it can be reached: what something newer has taken from it is seen now.
bool JournalBatch::stay(Turn& turn, Document& document, std::uint64_t number, TargetSet targets) {
  if (!turn.take(0)) return false;
  ++done_;
  JournalEntry& entry = *waiting_with(*document.now.row, number);
  entry.targets = targets;
  entry.taken_over = entry.taken_over & targets;
  settle(document);
  return true;
}

// For targets that cannot be reached; the others have left with this attempt. Its record lies in `requests`, and its
// next attempt is another one, so that nothing that is said of this one is about it. What is under way for its targets
// at an older order goes on: it waits, and waiting supersedes nothing.
void JournalBatch::keep_rest(Document& document, JournalEntry entry, TargetSet targets, std::uint32_t attempt) {
  entry.targets = targets;
  entry.taken_over = entry.taken_over & targets;
  entry.attempt = attempt;
  entry.number = next_number();
  add(*document.now.row, entry);
  settle(document);
}

bool JournalBatch::put_off(Turn& turn, Document& document, std::uint64_t number, Milliseconds by) {
  if (!turn.take(0)) return false;
  ++done_;
  waiting_with(*document.now.row, number)->retry_at = UnixMs(context_.now.value() + by.value());
  settle(document);
  return true;
}

// From here on all tables see it.
std::uint32_t JournalBatch::send(Document& document, const JournalEntry& entry, InputIndex input, TargetSet moved,
                                 TargetSet targets) {
  const DispatchRules& rules = context_.dispatch;
  Row& row = *document.now.row;
  const bool has_lanes = !row.lanes.empty();
  std::uint32_t attempt = entry.attempt;
  for (const JournalEntry& other : row.journal)
    if (other.order == entry.order) attempt = std::max(attempt, other.attempt);
  ++attempt;
  if (has_lanes && orders_.any_queued())  // these are further attempts, whatever has become of this one by then
    orders_.change_queued(document, entry.order, [&](JournalEntry& queued) { queued.attempt = attempt; });
  decide(document, entry, input, {Outcome::kForwarded, Reason::kNone, {}}, targets, attempt);
  if (entry.attempt == 0 || !moved.empty()) {
    RowEdit edit;
    edit.order = entry.order;
    edit.moved = moved;
    const bool newest = row.requested && row.requested->order == entry.order;
    edit.requested = Accepted{entry.request.offset, newest ? row.requested->hash : PayloadHash(), targets,
                              newest ? &row.requested->content : nullptr};
    overlay_.change(document, edit, context_);
  } else {
    mark_requested(row, entry.order);  // a command may have registered what stayed behind
    overlay_.note_forwarded(document, entry.order, targets);
  }
  if (entry.for_all) raise_barrier(document, entry.order);  // at a retry: something may have waited below it before
  JournalEntry sent = entry;
  sent.state = EntryState::kProcessing;
  sent.targets = targets;
  sent.attempt = attempt;
  sent.taken_over = TargetSet();
  sent.retry_at = UnixMs();
  sent.urgency.consolidate_until = UnixMs();
  if (rules.keeps_under_way()) {
    sent.number = next_number();
    if (rules.journal) {
      sent.lease_until = UnixMs(context_.now.value() + rules.lease.value());
      sent.dispatched_at = std::max(context_.now, UnixMs());
    }
    add(*document.now.row, sent);
    if (!state_.breakers.empty()) note_dispatch(state_.breakers, targets, sent.number, context_);
  }
  if (has_lanes) orders_.sent(document, entry.order, targets);
  settle(document);
  const Dispatched dispatched{sent.attempt, sent.lease_until};
  const auto kept = effects_.arena().copy(std::span<const Dispatched>(&dispatched, 1));
  effects_.send(input, Forward{entry.order, entry.op, targets, kept.data()});
  return sent.attempt;
}

// What was said of its input, or is said of what waited.
void JournalBatch::decide(const Document& document, const JournalEntry& entry, InputIndex input, Decision decision,
                          TargetSet targets, std::uint32_t attempt) {
  Event* event = nullptr;
  if (input_of(entry.number) == kNoInput) {
    if (!effects_.tells_of(decision.outcome)) return;
    event = &effects_.tell(input, decision, document.id);
    event->order = entry.order;
    event->expected = document.newest_order();
  } else {
    decision.table_row = effects_.decided(input).table_row;
    event = effects_.decide_again(input, decision, document.id, entry.order, document.newest_order());
  }
  if (event == nullptr) return;
  event->targets = targets;
  event->attempt = attempt;
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

void JournalBatch::erase(Document& document, std::uint64_t number) {
  document.now.row->journal.erase_if(
      [&](const JournalEntry& one) { return one.state == EntryState::kWaiting && one.number == number; });
}

void JournalBatch::end(Document& document, std::uint64_t number) {
  erase(document, number);
  settle(document);
}

}  // namespace reseq::engine
