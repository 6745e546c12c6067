// What becomes of work that failed.
#include <algorithm>

#include "tests/journal/job_table.h"

namespace reseq::journal {
namespace {

// Of what is not pending at an order nothing can fail.
Verdict not_pending(const DocumentJob& document, const Input& input) {
  bool here = false;
  bool newer = false;
  for (const auto& [target, job] : document.targets) {
    const bool asked = !input.targets || input.targets->contains(target);
    here = here || (asked && (job.newest == input.order || (!input.targets && job.last_release == input.order)));
    newer = newer || (asked && job.newest > input.order);
  }
  const bool below = document.barrier && input.order < *document.barrier;
  // Open: of several targets it is enough that one of them is known at the order.
  if (below || (newer && !here)) return {Outcome::kDropped, Reason::kSuperseded};
  if (here) return {Outcome::kDropped, Reason::kDuplicate};
  return {Outcome::kDeadLettered, Reason::kUnregistered};
}

}  // namespace

bool JobTable::is_about(const Input& input, const UnderWay& dispatch) const {
  return dispatch.order == input.order && dispatch.attempt == std::max(input.attempt, 1U);
}

// The document's and permanent; or all its retries are used up; or the same unknown error too often in a row.
bool JobTable::is_for_good(const Input& input, const Failures& before, std::uint32_t repeats) const {
  const bool permanent = input.scope == FailureScope::kDocument && input.failure == FailureKind::kPermanent;
  return permanent || before.retries >= rules_.retries_max || repeats >= rules_.repeats_max;
}

bool JobTable::may_have_been_done(const Input& input, TargetNumber target) const {
  return rules_.potent.contains(target) && !input.without_effect;
}

// Table F.
Verdict JobTable::fail(DocumentJob& document, const Input& input) {
  const TargetSet asked = pending_at(document, input.order) & input.targets.value_or(kAllTargets);
  if (asked.empty()) return not_pending(document, input);
  TargetSet failed;
  TargetSet known;  // somebody works on it, or it waits, or what waits took it over
  std::uint32_t last = 0;
  for (const UnderWay& dispatch : document.under_way) {
    if (dispatch.order != input.order || (dispatch.targets & asked).empty()) continue;
    known |= dispatch.targets;
    last = std::max(last, dispatch.attempt);
    if (is_about(input, dispatch)) failed |= dispatch.targets & asked;
  }
  for (const Waiting& entry : document.waiting) {
    if (entry.order == input.order) known |= entry.targets;
    if (entry.order > input.order) known |= entry.took_over;
  }
  if (!failed.empty()) {
    fail(document, input, failed);
    return {Outcome::kApplied, Reason::kNone};
  }
  if (input.attempt == 0 && last > 1) return {Outcome::kDeadLettered, Reason::kAttemptMissing};
  // All is all that was dispatched.
  const TargetSet orphaned = input.targets ? asked.without(known) : TargetSet();
  if (orphaned.empty()) return {Outcome::kDropped, Reason::kDuplicate};
  for (const TargetNumber target : orphaned) document.targets.at(target).state = TargetState::kRemoved;
  settle(document, false);
  return {Outcome::kDeadLettered, Reason::kNoRequest};
}

// F2: it may have been done. F3: it waits for its target. F4: for good. F5: else. Open: whatever a failure says of its
// target is heard.
void JobTable::fail_target(DocumentJob& document, const Input& input, TargetNumber target, Failed& failed) {
  Failures& failures = document.targets.at(target).failures;
  const auto carries = [&](const UnderWay& one) { return one.order == input.order && one.targets.contains(target); };
  const auto dispatch = std::find_if(document.under_way.begin(), document.under_way.end(), carries);
  const TargetSet one = TargetSet::of(target);
  Failed of_target = failed;
  const bool waits = meets_breaker(input, target, dispatch->number, of_target);
  if (may_have_been_done(input, target)) {
    failed.effect_unknown |= one;
    failures.exhausted = false;
    return;
  }
  failed = of_target;
  if (waits) {
    failed.retried |= one;
    failures = {failures.retries, 0, input.error, false};
    return;
  }
  const bool unknown = input.scope == FailureScope::kDocument && input.failure == FailureKind::kUnknown;
  const std::uint32_t repeats = !unknown ? 0 : failures.error == input.error ? failures.repeats + 1 : 1;
  if (is_for_good(input, failures, repeats)) {
    failed.for_good |= one;
  } else {
    failed.retried |= one;
    failed.retry_at = std::max(failed.retry_at, retry_date());
  }
  const bool hopeless = (input.scope == FailureScope::kDocument && input.failure == FailureKind::kPermanent) ||
                        repeats >= rules_.repeats_max;
  failures = {failures.retries + 1, repeats, input.error, !hopeless};
}

void JobTable::fail(DocumentJob& document, const Input& input, TargetSet targets) {
  Failed failed;
  for (const TargetNumber target : targets) fail_target(document, input, target, failed);
  std::vector<UnderWay> ended;
  for (UnderWay& dispatch : document.under_way) {
    if (dispatch.order != input.order || (dispatch.targets & targets).empty()) continue;
    ended.push_back(dispatch);
    ended.back().targets = dispatch.targets & targets;
    dispatch.targets = dispatch.targets.without(targets);
    answered_ = std::max(answered_, dispatch.number);
  }
  std::erase_if(document.under_way, [](const UnderWay& dispatch) { return dispatch.targets.empty(); });
  for (const UnderWay& one : ended) {
    try_again(document, one, one.targets & failed.retried, failed.retry_at);
    give_up(document, one, one.targets & failed.for_good, false);
    give_up(document, one, one.targets & failed.effect_unknown, true);
  }
  settle(document, false);
}

void JobTable::give_up(DocumentJob& document, const UnderWay& failed, TargetSet targets, bool effect_unknown) {
  Waiting entry = again(failed, targets);
  entry.given_up = true;
  entry.effect_unknown = effect_unknown;
  give_to_newer(document, entry);
  wait_again(document, entry);
}

// What is to be tried again goes together, what is given up alone.
void JobTable::try_again(DocumentJob& document, const UnderWay& failed, TargetSet targets, UnixMs retry_at) {
  Waiting entry = again(failed, targets);
  entry.retry_at = retry_at;
  give_to_newer(document, entry);
  if (entry.targets.empty()) return;
  for (Waiting& same : document.waiting) {
    const bool alike = !same.given_up && same.timeouts == entry.timeouts && same.losses == entry.losses;
    if (!alike || same.order != entry.order || same.attempt == 0) continue;
    same.urgency = merged(same.urgency, entry.urgency);
    same.targets |= entry.targets;
    same.attempt = std::max(same.attempt, entry.attempt);
    same.retry_at = std::max(same.retry_at, entry.retry_at);
    return;
  }
  wait_again(document, entry);
}

bool JobTable::is_same(const DocumentJob& document, const Input& input) const {
  return document.newest_request && document.newest_request->second == input.hash;
}

// Open: only where all that it asks for has failed at the newest request before it; else it is tried for all of it.
bool JobTable::inherits(const DocumentJob& document, const Input& input, TargetSet targets) const {
  if (!rules_.inherit_failed || input.deletes || !is_same(document, input)) return false;
  bool all = true;
  for (const TargetNumber target : targets) {
    const auto job = document.targets.find(target);
    all = all && job != document.targets.end() && job->second.newest == document.newest_request->first &&
          effect_unknown(document, target) && !job->second.failures.exhausted;
  }
  return all;
}

std::optional<bool> JobTable::effect_unknown(const DocumentJob& document, TargetNumber target) {
  const TargetJob& job = document.targets.at(target);
  if (job.failed) return job.effect_unknown;
  for (const Waiting& entry : document.waiting)
    if (entry.given_up && entry.order == job.newest && entry.targets.contains(target)) return entry.effect_unknown;
  return std::nullopt;
}

Verdict JobTable::fail_at_once(DocumentJob& document, const Input& input, TargetSet targets) {
  bool unknown = false;
  document.requested.insert(input.order);
  document.newest_request = {input.order, input.hash};
  for (const TargetNumber target : targets) {
    TargetJob& job = document.targets.at(target);
    job.effect_unknown = effect_unknown(document, target).value_or(false);
    unknown = unknown || job.effect_unknown;
    job.failed = true;
    job.state = TargetState::kRemoved;
    job.newest = document.accepted[target] = input.order;
  }
  answer_.timed_out.push_back({input.document, input.order});
  settle(document, false);
  return {Outcome::kDeadLettered, unknown ? Reason::kEffectUnknown : Reason::kFailed};
}

}  // namespace reseq::journal
