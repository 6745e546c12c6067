// What workers could not do (table F, engine/failures): it waits for its next attempt as an order waits that lost its
// lease, with a date; or it is given up, and leaves as a dead letter with its request, which has to be read again.
#include <algorithm>

#include "codec/record_size.h"
#include "engine/documents/apply.h"
#include "engine/failures/breakers.h"
#include "engine/failures/decide_fail.h"
#include "engine/journal/entries.h"
#include "engine/journal/journal_batch.h"
#include "engine/stamp.h"

namespace reseq::engine {

namespace {

// In the place of what was known of the target.
void note(Row& row, const Failure& failure) {
  forget_failures_of(row, failure.targets.without(row.in_lanes()));
  forget_failures_at(row, failure.order, failure.targets);
  for (Failure& one : row.failures) {
    Failure same = failure;
    same.targets = one.targets;
    if (same != one) continue;
    one.targets |= failure.targets;
    return;
  }
  std::size_t errors = 0;
  for (const Failure& one : row.failures) errors += one.error.size();
  row.failures.push_back(failure);
  const std::size_t room = kMaxErrorsBytes - std::min(errors, kMaxErrorsBytes);
  if (failure.error.size() > room) (row.failures.end() - 1)->error.resize(room);
}

}  // namespace

void JournalBatch::fail(Document& document, const FailRuling& ruling) {
  const TargetSet down = open_targets(state_.breakers);
  state_.breakers = ruling.breakers;
  for (const TargetNumber target : open_targets(state_.breakers).without(down))
    tell_of_target(EventKind::kTargetDown, document, ruling.ruling.edit.order, target);
  TargetSet retried;
  TargetSet for_good;
  TargetSet effect_unknown;
  for (const Failure& failure : ruling.failures) {
    (failure.effect_unknown ? effect_unknown : failure.for_good ? for_good : retried) |= failure.targets;
    note(*document.now.row, failure);
  }
  std::vector<JournalEntry> ended;
  end_under_way(document, ruling.failures.front().order, retried | for_good | effect_unknown, ended);
  for (JournalEntry& entry : ended) {
    JournalEntry given_up = entry;
    given_up.timeouts = kGivenUp;
    entry.targets = entry.targets & retried;
    entry.retry_at = ruling.retry_at;
    try_again(document, entry);
    for (const TargetSet targets : {for_good, effect_unknown}) {
      JournalEntry part = given_up;
      part.targets = given_up.targets & targets;
      try_again(document, part);
    }
  }
  settle(document);
}

void JournalBatch::note_failure(Document& document, const Failure& failure) {
  note(*document.now.row, failure);
  settle(document);
}

// One of an attempt that is not under way any more says nothing of now.
std::uint64_t JournalBatch::dispatch_of(const Document& document, const SequenceResult& result,
                                        const Order& order) const {
  const JournalEntry* entry = under_way_for(*document.now.row, order, result.target);
  const bool of_now = entry != nullptr && (result.attempt == 0 || result.attempt == entry->attempt);
  return of_now ? entry->number : 0;
}

void JournalBatch::note_release(const Document& document, TargetNumber target, const Order& order,
                                std::uint64_t dispatch) {
  if (engine::note_release(state_.breakers, target, dispatch))
    tell_of_target(EventKind::kTargetUp, document, order, target);
}

// Whatever is told of else: somebody may have to act.
void JournalBatch::tell_of_target(EventKind kind, const Document& document, const Order& order, TargetNumber target) {
  Event& event = told_.emplace_back();
  event.kind = kind;
  event.id = document.id;
  event.decision.outcome = Outcome::kApplied;
  event.order = order;
  event.target = target;
}

// Whoever fails has answered, too.
void JournalBatch::end_under_way(Document& document, const Order& order, TargetSet targets,
                                 std::vector<JournalEntry>& ended) {
  Row& row = *document.now.row;
  for (JournalEntry& entry : row.journal) {
    if (entry.state != EntryState::kProcessing || entry.order != order) continue;
    JournalEntry part = entry;
    part.targets = entry.targets & targets;
    if (part.targets.empty()) continue;
    ended.push_back(part);
    entry.targets = entry.targets.without(part.targets);
    state_.journal_answered = std::max(state_.journal_answered, entry.number);
  }
  row.journal.erase_if(
      [](const JournalEntry& one) { return one.state == EntryState::kProcessing && one.targets.empty(); });
}

// With what failed before at the same order, so that one attempt carries all of it; dates and priority merge as in J2.
// Leases that were lost count for those alone that lost them. What is given up leaves by itself: each has a reason of
// its own.
void JournalBatch::try_again(Document& document, JournalEntry entry) {
  if (entry.targets.empty()) return;
  wait_again(document, entry);
  if (entry.targets.empty()) return;
  Row& row = *document.now.row;
  for (JournalEntry& same : row.journal) {
    const bool waits = same.state == EntryState::kWaiting && same.order == entry.order && same.attempt > 0;
    const bool alike = same.timeouts == entry.timeouts && same.losses == entry.losses;
    if (!waits || !alike || entry.timeouts == kGivenUp) continue;
    take_over(same.urgency, entry.urgency, context_.dispatch);
    same.targets |= entry.targets;
    same.attempt = std::max(same.attempt, entry.attempt);
    same.retry_at = std::max(same.retry_at, entry.retry_at);
    return;
  }
  add(row, entry);
}

// Its work may have been done, and must not be done twice. What something newer waits for goes on with that.
void JournalBatch::give_up_lost(Document& document, JournalEntry lost) {
  lost.targets = lost.targets & context_.potent;
  lost.timeouts = kGivenUp;
  lost.retry_at = UnixMs();
  if (lost.targets.empty()) return;
  wait_again(document, lost);
  if (lost.targets.empty()) return;
  Failure failure;
  failure.targets = lost.targets;
  failure.order = lost.order;
  failure.attempt = lost.attempt;
  failure.at = context_.now;
  failure.for_good = failure.effect_unknown = true;
  note(*document.now.row, failure);
  add(*document.now.row, lost);
}

// Each with a version of its own, above all before it: a sink takes it as it takes a result. Where the error has no
// room on the output it is left out. None where the rest has none either, or all versions are used up.
Version JournalBatch::mark(const Document& document, const Order& order, Reason reason, std::uint32_t attempts,
                           TargetSet targets, InputIndex input) {
  if (!context_.dispatch.markers) return {};
  Version last;
  for (const TargetNumber target : targets) {
    const std::uint64_t room = context_.output_bytes_max[target.value()];
    if (codec::marker_bytes_max(document.id.size(), 0) > room) continue;
    const auto stamp = next_stamp(state_, target, std::nullopt, context_.now, context_.max_clock_drift);
    const auto* const version = std::get_if<Version>(&stamp);
    if (version == nullptr) return last;
    state_.last = last = *version;
    NoResult what{document.id, order, *version, reason, attempts, context_.now, {}};
    const Failure* const failure = document.now.row->failure_of(target, order);
    if (failure != nullptr && codec::marker_bytes_max(document.id.size(), failure->error.size()) <= room)
      what.error = effects_.arena().copy(failure->error);
    effects_.send(input, Marker{target, effects_.arena().copy(std::span<const NoResult>(&what, 1)).data()});
  }
  return last;
}

std::vector<Failure> JournalBatch::inherited(const Document& document, const Request& request,
                                             const Ruling& ruling) const {
  if (request.reprocess || !document.now.row) return {};
  const Row& row = *document.now.row;
  if (ruling.op != Op::kUpsert || !row.requested || row.requested->hash != request.hash) return {};
  TargetSet left = ruling.edit.requested->forwarded;
  std::vector<Failure> failures;
  for (const Failure& one : row.failures) {
    if (!one.for_good || one.exhausted || one.order != row.requested->order) continue;
    Failure again = one;
    again.targets = (row.holding(one) & left).without(orders_.of_lanes(left));  // these take every version
    if (again.targets.empty()) continue;
    left = left.without(again.targets);
    failures.push_back(again);
  }
  return left.empty() ? failures : std::vector<Failure>();
}

// As it would be given up behind its attempts: nobody works for nothing.
void JournalBatch::fail_at_once(Document& document, const Ruling& ruling, InputIndex input,
                                std::vector<Failure> failures) {
  const Order& order = ruling.edit.order;
  RowEdit edit;
  edit.order = order;
  edit.fails = true;
  edit.requested = ruling.edit.requested;
  edit.requested->forwarded = TargetSet();
  const Reason reason = ruling.decision.reason;
  std::string_view error;
  for (Failure& one : failures) {
    if (error.empty() && reason_of(one) == reason) error = effects_.arena().copy(one.error);
    one.order = order;
    one.attempt = one.retries = one.repeats = 0;
    one.at = context_.now;
    edit.removed |= one.targets;
    note(*document.now.row, one);
  }
  const GivenUp given_up{0, edit.removed, 0, error};
  effects_.send(input, DeadLetter{reason, document.newest_order(), effects_.kept(given_up)});
  for (const Failure& one : failures) {
    const Version version = mark(document, order, reason_of(one), 0, one.targets, input);
    if (version != Version()) edit.version = version;
  }
  overlay_.change(document, edit, context_);
}

GivenUp JournalBatch::last_failure(const Row& row, const JournalEntry& entry, TargetSet targets) {
  GivenUp given_up{0, targets, entry.attempt, {}};
  const Failure* last = nullptr;
  for (const Failure& one : row.failures)
    if (one.order == entry.order && !(one.targets & targets).empty() && (last == nullptr || one.at > last->at))
      last = &one;
  if (last != nullptr) given_up.error = effects_.arena().copy(last->error);
  return given_up;
}

// Nobody said what it was, and another time it may work: it is listed by its reason, and an operator can ask for it.
void JournalBatch::note_timed_out(Document& document, const JournalEntry& entry, TargetSet targets) {
  Failure failure;
  failure.targets = targets;
  failure.order = entry.order;
  failure.attempt = entry.attempt;
  failure.at = context_.now;
  failure.error = name_of(Reason::kTimedOut);
  failure.for_good = failure.exhausted = true;
  note(*document.now.row, failure);
}

}  // namespace reseq::engine
