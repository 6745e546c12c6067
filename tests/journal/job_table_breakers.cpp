// Targets that cannot be reached: several documents say so, and nothing is released for them.
#include <algorithm>

#include "tests/journal/job_table.h"

namespace reseq::journal {

// What was dispatched since it opened: late results of what was under way say nothing.
bool JobTable::closes(const Breaker& breaker, std::uint64_t dispatch) const {
  return dispatch > breaker.changed;
}

// Open: what was under way when it opened may have failed of it, whatever it says, but for what is permanent of the
// document. What was dispatched since has tried the target: it says itself what it failed of.
bool JobTable::waits_for_target(const Input& input, const Breaker& breaker, std::uint64_t dispatch) const {
  if (input.scope == FailureScope::kUniversal) return true;
  return input.failure != FailureKind::kPermanent && dispatch <= breaker.changed;
}

std::int64_t JobTable::longer(std::int64_t pause_ms) const {
  return std::min(2 * pause_ms, rules_.breaker_pause_max_ms);
}

bool JobTable::meets_breaker(const Input& input, TargetNumber target, std::uint64_t dispatch, Failed& failed) {
  const bool universal = input.scope == FailureScope::kUniversal;
  Breaker& breaker = breakers_[target];
  if (!breaker.open) {
    if (!universal || breaker_documents() == 0) return false;
    if (dispatch <= breaker.changed) return true;  // it was under way before the target was there again
    breaker.counted.insert(input.document);
    if (breaker.counted.size() < breaker_documents()) return false;
    breaker = {};
    breaker.open = true;
    breaker.until_resume = input.failure == FailureKind::kPermanent;
    breaker.changed = last_number_;
    breaker.pause_ms = rules_.breaker_pause_ms;
    breaker.probe_at = UnixMs(now_.value() + breaker.pause_ms);
    return true;
  }
  const bool probe = breaker.probe == dispatch;
  if (probe) breaker.probe = 0;
  if (probe && universal) {
    breaker.until_resume = breaker.until_resume || input.failure == FailureKind::kPermanent;
    breaker.pause_ms = longer(breaker.pause_ms);
    breaker.probe_at = UnixMs(now_.value() + breaker.pause_ms);
    failed.retry_at = std::max(failed.retry_at, breaker.probe_at);  // another one is tried then
  } else if (probe) {
    breaker.probe_at = now_;  // it says nothing of the target: so another one, at once
  }
  return waits_for_target(input, breaker, dispatch);
}

// Open: a result of an earlier attempt says nothing of the one under way.
void JobTable::note_release(const DocumentJob& document, const Input& input) {
  const TargetNumber target = input.targets->first();
  const auto found = breakers_.find(target);
  if (found == breakers_.end()) return;
  Breaker& breaker = found->second;
  breaker.counted.clear();
  for (const UnderWay& one : document.under_way) {
    const bool is_it = one.order == input.order && one.targets.contains(target) &&
                       (input.attempt == 0 || input.attempt == one.attempt);
    if (is_it && breaker.open && closes(breaker, one.number)) close(breaker, one.number);
  }
}

void JobTable::close(Breaker& breaker, std::uint64_t behind) {
  breaker = {};
  breaker.changed = behind;
}

// An operator says that the target is there again.
Verdict JobTable::resume(const Input& input) {
  Breaker& breaker = breakers_[input.targets->first()];
  if (!breaker.open) return {Outcome::kDropped, Reason::kNoChange};
  close(breaker, last_number_);
  return {Outcome::kApplied, Reason::kNone};
}

TargetSet JobTable::down() const {
  TargetSet down;
  for (const auto& [target, breaker] : breakers_)
    if (breaker.open) down |= TargetSet::of(target);
  return down;
}

// Not yet to be tried. Open: what is further away than a pause is a date of another clock.
bool JobTable::is_far(const Breaker& breaker) const {
  return breaker.probe_at > now_ && breaker.probe_at.value() - breaker.pause_ms <= now_.value();
}

TargetSet JobTable::blocked() const {
  TargetSet blocked;
  for (const auto& [target, breaker] : breakers_)
    if (breaker.open && (breaker.until_resume || is_far(breaker))) blocked |= TargetSet::of(target);
  return blocked;
}

// What is given up goes to nobody.
TargetSet JobTable::stays(const Waiting& entry) const {
  const bool ends = entry.given_up || entry.timeouts > rules_.timeouts_max;
  return ends ? TargetSet() : entry.targets & blocked();
}

// Open: one without an end has failed when the next one is due.
void JobTable::note_probe(TargetSet targets, std::uint64_t dispatch) {
  for (auto& [target, breaker] : breakers_) {
    if (!breaker.open || !targets.contains(target)) continue;
    if (breaker.probe != 0) breaker.pause_ms = longer(breaker.pause_ms);
    breaker.probe = dispatch;
    breaker.probe_at = UnixMs(now_.value() + breaker.pause_ms);
  }
}

}  // namespace reseq::journal
