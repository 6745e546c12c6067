// What becomes of the inputs of a batch.
#include "tests/journal/job_table.h"

#include <algorithm>
#include <utility>

namespace reseq::journal {
namespace {

constexpr Verdict kSuperseded{Outcome::kDropped, Reason::kSuperseded};
constexpr Verdict kDuplicate{Outcome::kDropped, Reason::kDuplicate};
constexpr Verdict kExpired{Outcome::kDropped, Reason::kExpired};
constexpr Verdict kUnregistered{Outcome::kDeadLettered, Reason::kUnregistered};

void raise(std::optional<OrderNumber>& barrier, OrderNumber order) {
  if (!barrier || *barrier < order) barrier = order;
}

bool is_below(const std::optional<OrderNumber>& barrier, OrderNumber order) {
  return barrier && order < *barrier;
}

// Of what was dispatched or registered.
TargetSet beyond(const DocumentJob& document, OrderNumber order) {
  TargetSet found;
  for (const auto& [target, job] : document.targets)
    if (job.newest > order) found |= TargetSet::of(target);
  return found;
}

TargetSet at(const DocumentJob& document, OrderNumber order, TargetState state) {
  TargetSet found;
  for (const auto& [target, job] : document.targets)
    if (job.newest == order && job.state == state) found |= TargetSet::of(target);
  return found;
}

bool nothing_is_pending(const DocumentJob& document) {
  return std::none_of(document.targets.begin(), document.targets.end(),
                      [](const auto& each) { return each.second.state == TargetState::kPending; });
}

// Something is known at this order: a target is there, or had its last release there.
bool is_group(const DocumentJob& document, OrderNumber order) {
  return std::any_of(document.targets.begin(), document.targets.end(), [order](const auto& each) {
    return each.second.newest == order || each.second.last_release == order;
  });
}

// The newest order of a target as requests see it.
std::optional<OrderNumber> newest_requested(const DocumentJob& document, TargetNumber target) {
  std::optional<OrderNumber> newest;
  if (const auto job = document.targets.find(target); job != document.targets.end()) newest = job->second.newest;
  if (const auto known = document.accepted.find(target); known != document.accepted.end())
    newest = std::max(newest.value_or(known->second), known->second);
  return newest;
}

TargetSet known_to_commands(const DocumentJob& document) {
  TargetSet known;
  for (const auto& [target, job] : document.targets) known |= TargetSet::of(target);
  return known;
}

TargetSet known_to_requests(const DocumentJob& document) {
  TargetSet known = known_to_commands(document);
  for (const auto& [target, order] : document.accepted) known |= TargetSet::of(target);
  return known;
}

// That a request was seen at an order is known for as long as it waits, or something else is known at it.
void forget_requested(DocumentJob& document) {
  std::erase_if(document.requested, [&](OrderNumber order) {
    bool known = std::any_of(document.waiting.begin(), document.waiting.end(),
                             [order](const Waiting& each) { return each.order == order; });
    for (const TargetNumber target : known_to_requests(document)) {
      const auto job = document.targets.find(target);
      known = known || newest_requested(document, target) == order ||
              (job != document.targets.end() && (job->second.newest == order || job->second.last_release == order));
    }
    return !known;
  });
}

}  // namespace

TargetSet JobTable::pending_at(const DocumentJob& document, OrderNumber order) {
  return at(document, order, TargetState::kPending);
}

Verdict JobTable::decide(const Input& input) {
  DocumentJob& document = documents_[input.document];
  switch (input.kind) {
    case Kind::kRequest:
      return request(document, input);
    case Kind::kExpire:
      return expire(document, input);
    case Kind::kNow:
    case Kind::kPostpone:
      return move(document, input);
    case Kind::kResume:
      return resume(input);
    case Kind::kRegister:
      return register_order(document, input);
    case Kind::kResult:
      return result(document, input);
    case Kind::kUnregister:
      return unregister(document, input);
    case Kind::kFail:
      return fail(document, input);
    default:
      return heartbeat(document, input);
  }
}

// Table R, which sees all that was accepted.
Verdict JobTable::request(DocumentJob& document, const Input& input) {
  const OrderNumber order = input.order;
  if (is_too_far(input)) return {Outcome::kDeadLettered, Reason::kMalformedHeader};
  if (is_below(document.accepted_barrier, order)) return kSuperseded;  // R0
  if (document.newest_request && document.newest_request->first == order &&
      document.newest_request->second != input.hash)
    return {Outcome::kDeadLettered, Reason::kSequenceReused};  // R5
  const TargetSet known = known_to_requests(document);
  TargetSet wanted = input.targets.value_or(kDefaultTargets);
  if (input.deletes_all()) wanted = known.empty() ? kAllTargets : wanted | known;
  TargetSet moved;
  TargetSet newer;
  TargetSet late;  // that only commands registered at this order
  for (const TargetNumber target : kAllTargets) {
    const TargetSet one = TargetSet::of(target);
    const auto newest = newest_requested(document, target);
    if (wanted.contains(target) && (!newest || *newest < order)) moved |= one;
    if (wanted.contains(target) && newest && *newest > order) newer |= one;
    if (newest == order && !document.requested.contains(order)) late |= one & pending_at(document, order);
  }
  if ((moved | late).empty()) return not_new(document, input, newer);
  if (late.empty() && is_unchanged(document, input, wanted)) return keep(document, input, wanted);
  if (inherits(document, input, moved | late)) return fail_at_once(document, input, moved | late);
  return accept(document, input, moved, late);  // R1, R2
}

bool JobTable::has_it(const DocumentJob& document, TargetNumber target) const {
  const auto job = document.targets.find(target);
  return job != document.targets.end() && job->second.state == TargetState::kServed &&
         job->second.newest == document.newest_request->first &&
         newest_requested(document, target) == document.newest_request->first;
}

bool JobTable::asks_for_the_same(const DocumentJob& document, const Input& input) const {
  return document.newest_request->second == input.hash;
}

// R7. What it takes for its own are the last releases.
bool JobTable::is_unchanged(const DocumentJob& document, const Input& input, TargetSet wanted) const {
  if (!rules_.skips_unchanged || wanted.empty() || !document.newest_request) return false;
  if (document.newest_request->first >= input.order || !asks_for_the_same(document, input)) return false;
  bool all = true;
  for (const TargetNumber target : wanted) all = all && has_it(document, target);
  return all;
}

Verdict JobTable::keep(DocumentJob& document, const Input& input, TargetSet wanted) {
  document.requested.insert(input.order);
  document.newest_request = {input.order, input.hash};
  for (const TargetNumber target : wanted) {
    TargetJob& job = document.targets.at(target);
    job.newest = input.order;
    job.last_release = input.order;
    job.state = TargetState::kServed;
    document.accepted[target] = input.order;
  }
  document.dispatched.insert(input.order);
  if (input.deletes_all()) {
    raise(document.accepted_barrier, input.order);
    raise(document.barrier, input.order);
  }
  settle(document, false);
  return {Outcome::kUnchanged, Reason::kNone};
}

// Open: not where an older order is pending below it, because something newer waits for that target: waiting supersedes
// nothing.
void JobTable::raise_barrier(DocumentJob& document, OrderNumber order) {
  const bool pending_below = std::any_of(document.targets.begin(), document.targets.end(), [&](const auto& each) {
    return each.second.state == TargetState::kPending && each.second.newest < order;
  });
  if (!pending_below) raise(document.barrier, order);
}

// R3 and R4. Open: J5 merges dates for R3 alone: R4 says superseded, although the order may wait for other targets.
Verdict JobTable::not_new(DocumentJob& document, const Input& input, TargetSet newer) {
  if (input.deletes_all() && (!document.accepted_barrier || *document.accepted_barrier < input.order)) {
    document.accepted_barrier = input.order;
    raise_barrier(document, input.order);  // Open: it is never dispatched, so commands see its barrier at once.
  }
  if (!newer.empty()) return kSuperseded;
  for (Waiting& entry : document.waiting)
    if (entry.order == input.order) entry.urgency = merged(entry.urgency, wish_of(input));  // J5
  return kDuplicate;
}

// J1. An order that is asked for once more with further targets has another entry for these, with its own data.
Verdict JobTable::accept(DocumentJob& document, const Input& input, TargetSet moved, TargetSet late) {
  if (input.deletes_all()) raise(document.accepted_barrier, input.order);
  document.requested.insert(input.order);
  if (!document.newest_request || input.order >= document.newest_request->first)
    document.newest_request = {input.order, input.hash};
  for (const TargetNumber target : moved | late) document.accepted[target] = input.order;
  Waiting entry;
  entry.order = input.order;
  entry.number = ++last_number_;
  entry.urgency = wish_of(input);
  entry.input = input_;
  entry.targets = moved | late;
  entry.deletes_all = input.deletes_all();
  take_over(document, entry, moved);
  // J4. Open: it takes older entries over before it is looked at: their expiration may be larger.
  if (is_expired(entry)) {
    document.waiting.push_back(entry);
    drop(document, entry.order, entry.targets);
    return kExpired;
  }
  document.waiting.push_back(entry);
  begin_to_wait(document, entry);
  settle(document, false);
  return {Outcome::kWaiting, Reason::kNone};
}

// J2. Open: uncounted losses go as the counter does.
void JobTable::take_over(DocumentJob& document, Waiting& entry, TargetSet targets) {
  for (Waiting& each : document.waiting) {
    const TargetSet taken = each.targets & targets;
    if (each.order >= entry.order || taken.empty()) continue;
    entry.urgency = merged(each.urgency, entry.urgency);
    entry.timeouts = entry.losses = 0;
    entry.took_over |= taken & (pending_at(document, each.order) | each.took_over);
    each.targets = each.targets.without(taken);
    each.took_over = each.took_over.without(taken);
    if (each.targets.empty() && each.input) answer_.verdicts[*each.input] = kSuperseded;
  }
  std::erase_if(document.waiting, [](const Waiting& each) { return each.targets.empty(); });
}

// J4: nobody wants these targets of an entry any more.
void JobTable::drop(DocumentJob& document, OrderNumber order, TargetSet targets) {
  for (Waiting& entry : document.waiting) {
    if (entry.order != order) continue;
    for (const TargetNumber target : goes_with(document, entry, entry.targets & targets))
      document.targets.at(target).state = TargetState::kRemoved;
    entry.targets = entry.targets.without(targets);
    if (entry.targets.empty() && entry.input) answer_.verdicts[*entry.input] = kExpired;
  }
  std::erase_if(document.waiting, [](const Waiting& entry) { return entry.targets.empty(); });
  settle(document, false);
}

// After every change of what was dispatched: dispatches end, and entries lose targets for which the order has ended or
// something newer was dispatched or registered.
void JobTable::settle(DocumentJob& document, bool by_command, std::optional<OrderNumber> released) {
  for (UnderWay& dispatch : document.under_way) {
    dispatch.targets = dispatch.targets & pending_at(document, dispatch.order);
    if (dispatch.targets.empty() && by_command) answered_ = std::max(answered_, dispatch.number);
    if (dispatch.targets.empty() && released == dispatch.order)
      release_ms_.push_back(now_.value() - dispatch.dispatched_at.value());
  }
  std::erase_if(document.under_way, [](const UnderWay& dispatch) { return dispatch.targets.empty(); });
  for (Waiting& entry : document.waiting)
    if (narrows(entry)) narrow(document, entry);
  std::erase_if(document.waiting, [](const Waiting& entry) { return entry.targets.empty(); });
  std::erase_if(document.dispatched, [&](OrderNumber order) { return !is_group(document, order); });
  forget_requested(document);
}

// Open: what a command registered or ended takes nothing from an entry that was never dispatched: that is seen when its
// turn comes.
bool JobTable::narrows(const Waiting& entry) const {
  return entry.attempt > 0;
}

void JobTable::narrow(const DocumentJob& document, Waiting& entry) {
  const TargetSet ended =
      at(document, entry.order, TargetState::kServed) | at(document, entry.order, TargetState::kRemoved);
  const bool below = is_below(document.barrier, entry.order);
  const TargetSet gone = below ? entry.targets : entry.targets & (ended | beyond(document, entry.order));
  entry.targets = entry.targets.without(gone);
  entry.took_over = entry.took_over & entry.targets;
  // Open: which of the two it is. As where a gate lets through what nobody waits for.
  if (entry.targets.empty() && entry.input)
    answer_.verdicts[*entry.input] = is_group(document, entry.order) && !below ? kDuplicate : kSuperseded;
}

void JobTable::move_to(DocumentJob& document, OrderNumber order, TargetSet targets, std::uint32_t attempt) {
  for (const TargetNumber target : targets) {
    TargetJob& job = document.targets[target];
    if (job.newest != order) job.failures = Failures();
    job.failed = false;
    job.newest = order;
    job.state = TargetState::kPending;
    job.attempt = attempt;
  }
}

// REGISTER: it sees what was dispatched, and of requests the barrier. Open: what it registers has no attempt, is not
// under way and has no lease; older entries lose what it moves. Open: a delete for all is for the targets that were
// dispatched or registered, and for all only if nothing waits either. What waits below it will reach nobody: it knows
// no target any more.
Verdict JobTable::register_order(DocumentJob& document, const Input& input) {
  if (is_below(document.accepted_barrier, input.order)) return kSuperseded;
  TargetSet wanted = input.targets.value_or(kDefaultTargets);
  if (input.deletes_all()) {
    wanted = known_to_requests(document).empty() ? kAllTargets : wanted | known_to_commands(document);
    raise(document.accepted_barrier, input.order);
    if (stops_by_command()) raise(document.barrier, input.order);
    std::erase_if(document.accepted, [&](const auto& each) { return each.second < input.order; });
  }
  const TargetSet newer = wanted & beyond(document, input.order);
  TargetSet moved = wanted.without(newer);
  for (const auto& [target, job] : document.targets)
    if (job.newest == input.order) moved = moved.without(TargetSet::of(target));
  if (moved.empty()) {
    settle(document, true);  // its barrier
    return newer.empty() ? kDuplicate : kSuperseded;
  }
  move_to(document, input.order, moved, 0);
  settle(document, true);
  return {Outcome::kRegistered, Reason::kNone};
}

// Table S. Open: whether the attempt is said is asked where the result would be released, and nowhere else.
Verdict JobTable::result(DocumentJob& document, const Input& input) {
  const TargetNumber target = input.targets->first();
  const auto found = document.targets.find(target);
  const bool known = found != document.targets.end();
  if (is_below(document.barrier, input.order) || (known && found->second.newest > input.order))
    return {Outcome::kDropped, nothing_is_pending(document) ? Reason::kStale : Reason::kSuperseded};
  if (known && found->second.newest == input.order) {
    TargetJob& job = found->second;
    if (job.state == TargetState::kServed) return kDuplicate;
    if (job.state == TargetState::kRemoved) return {Outcome::kDeadLettered, Reason::kUnregisteredTarget};
    const std::uint32_t last = last_attempt(document, target);
    if (input.attempt == 0 && wants_attempt(last)) return {Outcome::kDeadLettered, Reason::kAttemptMissing};
    if (rules_.last_attempt_only && std::max(input.attempt, 1U) < last)
      return {Outcome::kDropped, Reason::kAttemptBehind};
    note_release(document, input);
    job.state = TargetState::kServed;
    job.last_release = input.order;
    answer_.released.push_back({input.document, target, input.order});
    settle(document, true, input.order);
    return {Outcome::kReleased, Reason::kNone};
  }
  if (!known && is_group(document, input.order)) return {Outcome::kDeadLettered, Reason::kUnregisteredTarget};
  return kUnregistered;
}

// Open: only where the last one alone counts. Elsewhere a pipeline that does not copy the header would lose all results
// behind its first lost lease.
bool JobTable::wants_attempt(std::uint32_t last) const {
  return rules_.last_attempt_only && last > 1;
}

// Open: attempts are known of what waits or is under way: what a newer order took over from one that had come back may
// be answered by any of its attempts.
std::uint32_t JobTable::last_attempt(const DocumentJob& document, TargetNumber target) const {
  const OrderNumber order = document.targets.at(target).newest;
  std::uint32_t last = 1;
  for (const Waiting& each : document.waiting)
    if (each.order == order && each.targets.contains(target)) last = std::max(last, each.attempt);
  for (const UnderWay& each : document.under_way)
    if (each.order == order && each.targets.contains(target)) last = std::max(last, each.attempt);
  return last;
}

// Table U.
Verdict JobTable::unregister(DocumentJob& document, const Input& input) {
  const OrderNumber order = input.order;
  const bool below = is_below(document.barrier, order);
  const TargetSet pending = below ? TargetSet() : pending_at(document, order);
  const TargetSet ended = at(document, order, TargetState::kServed) | at(document, order, TargetState::kRemoved);
  const TargetSet newer = beyond(document, order);
  const bool group = is_group(document, order);
  TargetSet removed;
  Verdict otherwise = kUnregistered;
  if (!input.targets) {
    removed = pending;
    if (group)
      otherwise = kDuplicate;
    else if (below || !newer.empty())
      otherwise = kSuperseded;
  } else {
    const TargetSet wanted = *input.targets;
    const TargetSet superseded = below ? wanted : wanted & newer;
    const TargetSet rest = wanted.without(superseded);
    removed = rest & pending;
    if (group) removed |= rest.without(ended);
    if (!(rest & ended).empty())
      otherwise = kDuplicate;
    else if (!superseded.empty())
      otherwise = kSuperseded;
  }
  if (removed.empty()) return otherwise;
  for (const TargetNumber target : removed) {
    TargetJob& job = document.targets[target];
    if (job.newest != order) job.failed = false;
    job.newest = order;
    job.state = TargetState::kRemoved;
  }
  settle(document, true);
  return {Outcome::kRemoved, Reason::kNone};
}

// Open: what becomes of one that renews nothing is not said; nobody compares it.
Verdict JobTable::heartbeat(DocumentJob& document, const Input& input) {
  Verdict verdict{Outcome::kDropped, Reason::kNone};
  for (UnderWay& dispatch : document.under_way) {
    if (dispatch.order != input.order || dispatch.attempt != std::max(input.attempt, 1U)) continue;
    renew(dispatch, input.timestamp);
    verdict = {Outcome::kApplied, Reason::kNone};
  }
  return verdict;
}

// Open: one that is older than what is known shortens nothing.
void JobTable::renew(UnderWay& dispatch, UnixMs timestamp) const {
  const UnixMs until(std::min(timestamp, now_).value() + rules_.lease_ms);
  dispatch.lease_until = std::max(dispatch.lease_until, until);
}

// An operator gives up what is pending and what waits. Open: what would be dispatched to nobody is no change.
Verdict JobTable::expire(DocumentJob& document, const Input& input) {
  if (known_to_requests(document).empty()) return {Outcome::kDropped, Reason::kUnregistered};
  const TargetSet wanted = input.targets.value_or(kAllTargets);
  TargetSet given_up;
  for (Waiting entry : document.waiting) {
    entry.input.reset();
    narrow(document, entry);
    given_up |= entry.targets & wanted;
  }
  for (auto& [target, job] : document.targets) {
    if (!wanted.contains(target)) continue;
    const bool failed = std::exchange(job.failed, false);
    if (job.state != TargetState::kPending && !failed) continue;
    job.state = TargetState::kRemoved;
    given_up |= TargetSet::of(target);
  }
  const std::vector<Waiting> waiting = document.waiting;
  for (const Waiting& entry : waiting) drop(document, entry.order, given_up);
  settle(document, false);
  if (given_up.empty()) return {Outcome::kDropped, Reason::kNoChange};
  return {Outcome::kApplied, Reason::kNone};
}

// At once and most urgent: the insertion kept, no back-off, not consolidated, not behind all others. What blocks it and
// what is under way stay as they are.
void JobTable::hurry(Waiting& entry) const {
  entry.urgency.priority = 0;
  entry.urgency.process_at = entry.urgency.inserted;
  entry.urgency.consolidate_until = UnixMs();
  entry.losses = 0;
  entry.retry_at = UnixMs();
}

// Not before that date. It never makes anything earlier.
void JobTable::postpone(Waiting& entry, UnixMs until) const {
  entry.urgency.process_at = std::max(entry.urgency.process_at, until);
}

bool JobTable::may_postpone(UnixMs until) const {
  return until.value() <= now_.value() + rules_.process_at_max_ms;
}

// An operator moves what waits of a document. An order that waits for one of the targets moves with all of its own. A
// date that has passed puts nothing off.
Verdict JobTable::move(DocumentJob& document, const Input& input) const {
  const bool postpones = input.kind == Kind::kPostpone;
  if (postpones && !may_postpone(*input.process_at)) return {Outcome::kDeadLettered, Reason::kMalformedHeader};
  if (known_to_requests(document).empty()) return {Outcome::kDropped, Reason::kUnregistered};
  bool changes = false;
  for (Waiting& entry : document.waiting) {
    if ((entry.targets & input.targets.value_or(kAllTargets)).empty()) continue;
    if (postpones && *input.process_at <= now_) continue;
    const auto all_of = [](const Waiting& one) { return std::tuple(one.urgency, one.losses, one.retry_at); };
    const auto before = all_of(entry);
    if (postpones)
      postpone(entry, *input.process_at);
    else
      hurry(entry);
    changes = changes || all_of(entry) != before;
  }
  if (!changes) return {Outcome::kDropped, Reason::kNoChange};
  return {Outcome::kApplied, Reason::kNone};
}

}  // namespace reseq::journal
