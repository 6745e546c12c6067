// Table J: what becomes of a request that table R would forward. R sees the document as if everything that waits had
// been dispatched (entries.h). o = its order, T = its targets that are to be dispatched.
//
// clang-format off
// J4  nobody wants it any more (expires-at), now or later        -> drop expired: it stays for R alone; who waits at o,
//                                                                   or at an order that o took over, waits no more
// J1  otherwise                                                  -> it waits; dispatched in this batch if there is room
// J2  older orders wait for some of T                            -> these move to o, with dates and priority; an order
//                                                                   without targets is gone: superseded
// J3  an older order of the document is under way                -> o waits until that has ended (one_at_a_time)
// J5  R3 for an order that waits                                 -> drop duplicate; dates and priority merge
// clang-format on
//
// Waiting alone supersedes nothing: results of what was dispatched are released as they come. A delete for all that
// waits, or is gone, stops requests and registrations below it; nothing else sees it before its dispatch.
//
// An operator moves what waits: now = priority 0, the insertion as date, not consolidated, losses 0, no back-off;
// postpone = no date before this one. Whatever J2 and J5 take over later they take over of that. J3 and the room stay
// as they are.
#include <algorithm>

#include "engine/documents/apply.h"
#include "engine/documents/decide_register.h"
#include "engine/journal/entries.h"
#include "engine/journal/journal_batch.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

TargetSet pending_at(const Row& row, const Order& order) {
  for (const Group& group : row.groups)
    if (group.order == order) return group.pending;
  return {};
}

bool ends_at(UnixMs expires_at, UnixMs until) {
  return expires_at != UnixMs() && expires_at <= until;
}

bool is_too_late(const Request& request, const Context& context) {
  return request.wish != nullptr && request.wish->process_at && !context.may_wait_until(*request.wish->process_at);
}

// What an operator changes of an order that waits. Not what blocks it, and not how often it may time out.
void move_by_hand(JournalEntry& entry, const std::optional<UnixMs>& until) {
  if (until) {
    entry.urgency.process_at = std::max(entry.urgency.process_at, *until);
    return;
  }
  entry.urgency.priority = 0;
  entry.urgency.process_at = entry.urgency.inserted;
  entry.urgency.consolidate_until = UnixMs();
  entry.losses = 0;
  entry.retry_at = UnixMs();
}

JournalEntry entry_of(const Request& request, const Ruling& ruling, Milliseconds consolidate, const Context& context) {
  JournalEntry entry;
  entry.order = ruling.edit.order;
  entry.op = ruling.op;
  entry.for_all = request.what.op == Op::kDelete && !request.what.targets;
  entry.targets = ruling.edit.requested->forwarded;
  Wish wish;
  if (request.wish != nullptr) wish = *request.wish;
  if (request.wish == nullptr) wish.place.timestamp = context.now;
  entry.urgency = urgency_of(wish, consolidate, context);
  entry.request = wish.place;
  entry.request.offset = ruling.edit.requested->position;
  entry.request.work_bytes = request.work_bytes;
  return entry;
}

}  // namespace

bool JournalBatch::comes_too_late(const JournalEntry& entry, UnixMs until) const {
  return ends_at(entry.urgency.expires_at, until);
}

InputIndex JournalBatch::input_of(std::uint64_t number) const {
  const std::uint64_t place = number - first_number_ - 1;
  return number > first_number_ && place < fresh_.size() ? fresh_[place] : kNoInput;
}

Taken JournalBatch::decide(Document& document, const Request& request, Offset position) {
  std::optional<Row> as_if;
  if (document.journaled && document.now.row) as_if = as_if_dispatched(*document.now.row, context_);
  Ruling ruling = decide_request(request, position, as_if ? &*as_if : document.known(), state_, context_);
  if (is_too_late(request, context_)) {
    const Order order = ruling.edit.order;
    ruling = refuse(Reason::kMalformedHeader);
    set_order(ruling, order);
  }
  const bool others_wait = ruling.decision.outcome == Outcome::kForwarded && !ruling.edit.requested->forwarded.empty();
  std::optional<Ruling> of_others;
  late_for_lane_ = false;
  if (orders_.any()) {
    of_others = ruling;
    late_for_lane_ = orders_.enter(document, request, position, as_if ? &*as_if : document.known(), ruling);
  }
  const bool waits = ruling.decision.outcome == Outcome::kForwarded;
  const bool may_inherit = waits && context_.dispatch.inherit_failed;
  const std::vector<Failure> failed = may_inherit ? inherited(document, request, ruling) : std::vector<Failure>();
  if (waits) ruling.decision.outcome = Outcome::kWaiting;
  if (!failed.empty()) {
    const auto strongest =
        std::find_if(failed.begin(), failed.end(), [](const Failure& f) { return f.effect_unknown; });
    ruling.decision.outcome = Outcome::kDeadLettered;
    ruling.decision.reason = reason_of(strongest != failed.end() ? *strongest : failed.front());
  }
  const InputIndex input = effects_.number(ruling.decision);
  if (effects_.tells_of(ruling.decision.outcome)) {
    Event& event = effects_.tell(input, ruling.decision, document.id);
    event.order = ruling.edit.order;
    event.expected = document.newest_order();
    if (ruling.edit.unchanged) event.targets = ruling.edit.moved;
    if (waits) event.targets = ruling.edit.requested->forwarded;
  }
  if (!failed.empty()) {
    fail_at_once(document, ruling, input, failed);
    return Taken::kDecided;
  }
  if (waits && !others_wait) {  // for ordered targets alone
    ruling.edit.moved = TargetSet();
    if (of_others) carry_out(document, request, *of_others, as_if.has_value());
  }
  if (waits) {
    enter(document, request, ruling, input);
    return Taken::kDecided;
  }
  if (ruling.decision.outcome == Outcome::kDeadLettered)
    effects_.send(input, DeadLetter{ruling.decision.reason, document.newest_order()});
  carry_out(document, request, ruling, as_if.has_value());
  return Taken::kDecided;
}

// What waits for nothing.
void JournalBatch::carry_out(Document& document, const Request& request, const Ruling& ruling, bool waits_for_older) {
  const bool in_lanes_again = ruling.decision.table_row == TableRow::kO1 && !request.reprocess;
  if (ruling.decision.table_row == TableRow::kR3 || in_lanes_again) merge_same(document, request, ruling.edit.order);
  const bool unchanged = ruling.decision.outcome == Outcome::kUnchanged;  // then nothing waits for anything older
  if (ruling.edit.raises_barrier && waits_for_older && !unchanged)
    raise_barrier(document, ruling.edit.order);  // it is never dispatched
  else if (!ruling.edit.nothing())
    overlay_.change(document, ruling.edit, context_);
}

void JournalBatch::enter(Document& document, const Request& request, const Ruling& ruling, InputIndex input) {
  JournalEntry entry = entry_of(request, ruling, consolidate(ruling.edit.requested->forwarded), context_);
  entry.number = next_number();
  fresh_.back() = input;
  overlay_.note_journal(document);
  if (!document.now.row) document.now.row.emplace();
  Row& row = *document.now.row;
  const TargetSet in_lanes = orders_.of_lanes(entry.targets);
  const TargetSet queued = in_lanes.empty() ? TargetSet() : orders_.without_room(document, in_lanes);
  if (!queued.empty()) {
    orders_.queue(document, entry, queued);
    entry.targets = entry.targets.without(queued);
  }
  Accepted accepted = *ruling.edit.requested;
  accepted.forwarded = TargetSet();  // not yet
  note_requested(row, entry.order, accepted);
  take_over_older(document, entry, ruling.edit.moved);
  if (!entry.targets.empty()) add(row, entry);
  settle(document);
  if (entry.targets.empty()) return;
  if (comes_too_late(entry, context_.now)) expire(document, entry.number);
}

void JournalBatch::take_over_older(Document& document, JournalEntry& entry, TargetSet moved) {
  Row& row = *document.now.row;
  std::vector<JournalEntry> ended;
  for (JournalEntry& older : row.journal) {
    if (older.state == EntryState::kProcessing || older.order >= entry.order) continue;
    const TargetSet taken = older.targets & moved;
    if (taken.empty()) continue;
    const TargetSet went_with = taken & (pending_at(row, older.order) | older.taken_over);
    older.targets = older.targets.without(taken);
    older.taken_over = older.taken_over.without(taken);
    if (older.targets.empty()) mark_requested(row, older.order);  // a command may have registered at it
    if (older.state == EntryState::kGone) continue;
    take_over(entry.urgency, older.urgency, context_.dispatch);
    entry.taken_over |= went_with;
    if (is_for_lanes(older.targets)) older.urgency.consolidate_until = UnixMs();
    if (older.targets.empty()) ended.push_back(older);
  }
  row.journal.erase_if([](const JournalEntry& one) {
    return one.targets.empty() && (one.state == EntryState::kWaiting || !one.for_all);
  });
  for (const JournalEntry& older : ended) {
    drop(document, older, Reason::kSuperseded);
    if (older.for_all) leave_barrier(document, older.order);
  }
}

void JournalBatch::merge_same(Document& document, const Request& request, const Order& order) {
  if (!document.now.row || request.wish == nullptr) return;
  bool merged = false;
  const auto merge = [&](JournalEntry& entry) {
    take_over(entry.urgency, urgency_of(*request.wish, consolidate(entry.targets), context_), context_.dispatch);
    if (entry.attempt == 0) entry.retry_at = UnixMs();  // of a lease it is the back-off
    merged = true;
  };
  for (JournalEntry& entry : document.now.row->journal)
    if (entry.state == EntryState::kWaiting && entry.order == order) merge(entry);
  if (orders_.any_queued()) orders_.change_queued(document, order, merge);
  if (merged) settle(document);
}

// For requests and registrations alone.
void JournalBatch::leave_barrier(Document& document, const Order& order) {
  Row& row = *document.now.row;
  if (row.barrier && *row.barrier >= order) return;
  for (const JournalEntry& one : row.journal)
    if (one.state == EntryState::kGone && one.for_all && one.order >= order) return;
  JournalEntry barrier;
  barrier.order = order;
  barrier.state = EntryState::kGone;
  barrier.op = Op::kDelete;
  barrier.for_all = true;
  add(row, barrier);
  settle(document);
}

// It does not wait any more, and was not dispatched.
void JournalBatch::drop(const Document& document, const JournalEntry& entry, Reason reason) {
  const InputIndex input = input_of(entry.number);
  if (input == kNoInput) return tell(document, entry, {Outcome::kDropped, reason, TableRow::kNone});
  Event* const event = effects_.decide_again(input, {Outcome::kDropped, reason, effects_.decided(input).table_row},
                                             document.id, entry.order, document.newest_order());
  if (event != nullptr) event->targets = entry.targets;
}

// J4. What it took over waits at its older order, and nobody works on it.
void JournalBatch::expire(Document& document, std::uint64_t number) {
  Row& row = *document.now.row;
  JournalEntry gone = *waiting_with(row, number);
  RowEdit edit;
  edit.order = gone.order;
  edit.by_hand = true;
  for (const Group& group : row.groups) {
    if (group.order == gone.order) edit.removed |= group.pending & gone.targets;
    if (group.order < gone.order) edit.removed |= group.pending & gone.taken_over;
  }
  drop(document, gone, Reason::kExpired);
  end(document, number);
  orders_.end(document, gone.order, orders_.of_lanes(gone.targets));
  gone.targets = gone.targets.without(orders_.of_lanes(gone.targets));
  leave_behind(gone);
  if (!gone.targets.empty() || gone.for_all) add(row, gone);
  settle(document);
  if (!edit.nothing()) overlay_.change(document, edit, context_);
}

// Of what is gone no more is known than that it came.
void JournalBatch::leave_behind(JournalEntry& gone) {
  gone.state = EntryState::kGone;
  gone.attempt = gone.timeouts = gone.losses = 0;
  gone.retry_at = UnixMs();
  gone.taken_over = TargetSet();
  gone.urgency.consolidate_until = UnixMs();
}

bool JournalBatch::give_up(Document& document, TargetSet targets) {
  if (!document.journaled || !document.now.row) return false;
  Row& row = *document.now.row;
  std::vector<JournalEntry> gone;
  for (JournalEntry& entry : row.journal) {
    const TargetSet newest = entry.targets.without(orders_.of_lanes(entry.targets));  // the others are skipped
    const TargetSet given_up = targets.empty() ? newest : newest & targets;
    if (entry.state != EntryState::kWaiting || given_up.empty()) continue;
    gone.push_back(entry);
    leave_behind(gone.back());
    gone.back().targets = given_up;
    if (given_up == entry.targets) drop(document, entry, Reason::kExpired);
    entry.targets = entry.targets.without(given_up);
    entry.taken_over = entry.taken_over.without(given_up);  // or what is registered for them later would go with it
    if (is_for_lanes(entry.targets)) entry.urgency.consolidate_until = UnixMs();
  }
  if (gone.empty()) return false;
  row.journal.erase_if(
      [](const JournalEntry& one) { return one.state == EntryState::kWaiting && one.targets.empty(); });
  for (const JournalEntry& one : gone) add(row, one);
  settle(document);
  return true;
}

bool JournalBatch::move(Document& document, const DispatchByHand& command, bool only_look) {
  if (!document.journaled || !document.now.row) return false;
  if (command.until && *command.until <= context_.now) return false;  // that puts nothing off
  bool moves = false;
  for (JournalEntry& entry : document.now.row->journal) {
    const bool meant = command.targets.empty() || !(entry.targets & command.targets).empty();
    if (entry.state != EntryState::kWaiting || !meant) continue;
    JournalEntry moved = entry;
    move_by_hand(moved, command.until);
    if (moved == entry) continue;
    moves = true;
    if (!only_look) entry = moved;
  }
  if (moves && !only_look) settle(document);
  return moves;
}

std::optional<Row> JournalBatch::behind_waiting_barrier(const Document& document, const Registration& what) const {
  if (!document.journaled || !document.now.row) return std::nullopt;
  const std::optional<Order> barrier = waiting_barrier(*document.now.row);
  const Order order{what.epoch.value_or(Epoch()), what.sequence, what.revision};
  if (!barrier || order >= *barrier) return std::nullopt;
  if (document.now.row->barrier && *document.now.row->barrier >= *barrier) return std::nullopt;
  std::optional<Row> seen = document.now.row;
  seen->barrier = barrier;
  return seen;
}

std::optional<Reason> JournalBatch::refusal_of_attempt(const Document& document, const SequenceResult& result,
                                                       const Order& order) const {
  if (!context_.dispatch.last_attempt_only || !document.journaled || !document.now.row) return std::nullopt;
  std::uint32_t last = 1;
  for (const JournalEntry& entry : document.now.row->journal)
    if (entry.order == order && entry.targets.contains(result.target)) last = std::max(last, entry.attempt);
  if (last == 1 || result.attempt >= last) return std::nullopt;
  return result.attempt == 0 ? Reason::kAttemptMissing : Reason::kAttemptBehind;
}

Decision JournalBatch::beat(Document& document, const Heartbeat& command, const std::optional<Order>& order) {
  const auto dropped = [](Reason reason) { return Decision{Outcome::kDropped, reason, TableRow::kNone}; };
  if (!order) return dropped(Reason::kEpochMissing);
  if (!document.journaled || !document.now.row)
    return dropped(document.known() == nullptr ? Reason::kUnregistered : Reason::kNoChange);
  bool behind = false;
  bool missing = false;
  for (JournalEntry& entry : document.now.row->journal) {
    if (entry.order != *order || entry.attempt == 0 || entry.state == EntryState::kGone) continue;
    const std::uint32_t attempt = std::max(command.attempt, 1U);
    missing = missing || (command.attempt == 0 && entry.attempt > 1);
    behind = behind || attempt < entry.attempt;
    if (attempt != entry.attempt || entry.state != EntryState::kProcessing) continue;
    const UnixMs from = std::clamp(command.timestamp, UnixMs(), context_.now);
    const UnixMs until(from.value() + context_.dispatch.lease.value());
    if (entry.lease_until == UnixMs() || until <= entry.lease_until) return dropped(Reason::kNoChange);
    entry.lease_until = until;
    settle(document);
    return {Outcome::kApplied, Reason::kNone, TableRow::kNone};
  }
  if (missing) return dropped(Reason::kAttemptMissing);
  return dropped(behind ? Reason::kAttemptBehind : Reason::kNoChange);
}

// Whoever answers shows that workers answer: leases that were lost before count from then on.
void JournalBatch::change_by_command(Document& document, const RowEdit& edit) {
  std::vector<JournalEntry> under_way;
  if (document.now.row)
    for (const JournalEntry& entry : document.now.row->journal)
      if (entry.state == EntryState::kProcessing) under_way.push_back(entry);
  overlay_.change(document, edit, context_);
  const auto& journal = document.now.row->journal;
  for (const JournalEntry& entry : under_way) {
    const bool still = std::any_of(journal.begin(), journal.end(), [&](const JournalEntry& one) {
      return one.state == EntryState::kProcessing && one.number == entry.number;
    });
    if (still) continue;
    state_.journal_answered = std::max(state_.journal_answered, entry.number);
    if (edit.served && edit.order == entry.order && entry.dispatched_at != UnixMs())
      state_.release_times.note(Milliseconds(context_.now.value() - entry.dispatched_at.value()));
  }
}

// So long a request waits for newer ones of its document; in a lane none would take its place.
Milliseconds JournalBatch::consolidate(TargetSet targets) const {
  if (!context_.dispatch.journal || is_for_lanes(targets)) return {};
  if (!context_.dispatch.consolidate_measured) return context_.dispatch.consolidate;
  return std::min({state_.release_times.p99(), kConsolidateMax, context_.dispatch.process_at_max});
}

void JournalBatch::settle(Document& document) {
  overlay_.settle(document, context_);
}

}  // namespace reseq::engine
