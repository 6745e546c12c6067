#include "engine/failures/breakers.h"

#include <algorithm>

#include "base/utf8.h"
#include "engine/failures/fixed_hash.h"

namespace reseq::engine {
namespace {

std::vector<Breaker>::iterator find(std::vector<Breaker>& breakers, TargetNumber target) {
  return std::find_if(breakers.begin(), breakers.end(), [&](const Breaker& one) { return one.target == target; });
}

UnixMs behind(UnixMs date, Milliseconds by) {
  return UnixMs(date.value() + by.value());
}

Milliseconds longer(Milliseconds pause, const DispatchRules& rules) {
  return Milliseconds(std::min(2 * pause.value(), rules.breaker_pause_max.value()));
}

void count(Breaker& breaker, const TargetFailure& failure) {
  const std::uint64_t document = fixed_hash(failure.id, 0);
  const auto known = std::find(breaker.counted.begin(), breaker.counted.end(), document);
  if (known == breaker.counted.end()) breaker.counted.push_back(document);
  breaker.error = cut_at_character(failure.error, kMaxBreakerErrorBytes);
}

void close(Breaker& breaker, std::uint64_t behind) {
  const TargetNumber target = breaker.target;
  breaker = Breaker();
  breaker.target = target;
  breaker.changed_behind = behind;
}

// A pause never reaches further than itself: a date that lies further ahead is one of another clock.
bool is_due(const Breaker& breaker, UnixMs now) {
  return breaker.probe_at <= now || breaker.probe_at.value() - breaker.pause.value() > now.value();
}

// By targets, so that the same is known whatever came first.
Breaker& breaker_of(std::vector<Breaker>& breakers, TargetNumber target) {
  const auto place = std::find_if(breakers.begin(), breakers.end(),
                                  [&](const Breaker& one) { return one.target.value() >= target.value(); });
  if (place != breakers.end() && place->target == target) return *place;
  Breaker made;
  made.target = target;
  return *breakers.insert(place, made);
}

}  // namespace

std::optional<WaitsForTarget> note_failure(std::vector<Breaker>& breakers, const TargetFailure& failure,
                                           std::uint64_t last_number, const Context& context) {
  const DispatchRules& rules = context.dispatch;
  const auto known = find(breakers, failure.target);
  if (known == breakers.end() || !known->open) {
    if (!failure.universal || rules.breaker_documents == 0) return std::nullopt;
    if (known != breakers.end() && failure.dispatch <= known->changed_behind) return WaitsForTarget{};
    Breaker& breaker = breaker_of(breakers, failure.target);
    count(breaker, failure);
    if (breaker.counted.size() < rules.breaker_documents) return std::nullopt;
    breaker.counted.clear();
    breaker.open = true;
    breaker.until_resume = failure.kind == FailureKind::kPermanent;
    breaker.opened_at = context.now;
    breaker.changed_behind = last_number;
    breaker.pause = rules.breaker_pause;
    breaker.probe_at = behind(context.now, breaker.pause);
    return WaitsForTarget{};
  }
  Breaker& breaker = *known;
  WaitsForTarget waits;
  if (failure.universal) breaker.error = cut_at_character(failure.error, kMaxBreakerErrorBytes);
  if (breaker.probe != 0 && breaker.probe == failure.dispatch) {
    breaker.probe = 0;
    breaker.probe_at = context.now;
    if (failure.universal) {
      breaker.until_resume = breaker.until_resume || failure.kind == FailureKind::kPermanent;
      breaker.pause = longer(breaker.pause, rules);
      waits.retry_at = breaker.probe_at = behind(context.now, breaker.pause);
    }
  }
  if (failure.universal) return waits;
  // What was under way when it opened may have failed of it, whatever it says; what was dispatched since has tried.
  const bool has_tried = failure.dispatch > breaker.changed_behind;
  return has_tried || failure.kind == FailureKind::kPermanent ? std::nullopt : std::optional(waits);
}

bool note_release(std::vector<Breaker>& breakers, TargetNumber target, std::uint64_t dispatch) {
  const auto known = find(breakers, target);
  if (known == breakers.end()) return false;
  if (!known->open) {
    known->counted.clear();
    known->error.clear();
    if (known->changed_behind == 0) breakers.erase(known);
    return false;
  }
  // Late results of what was under way when it opened do not say that it is there again.
  if (dispatch <= known->changed_behind) return false;
  close(*known, dispatch);
  return true;
}

void note_dispatch(std::vector<Breaker>& breakers, TargetSet targets, std::uint64_t dispatch, const Context& context) {
  for (Breaker& breaker : breakers) {
    if (!breaker.open || !targets.contains(breaker.target)) continue;
    if (breaker.probe != 0) breaker.pause = longer(breaker.pause, context.dispatch);
    breaker.probe = dispatch;
    breaker.probe_at = behind(context.now, breaker.pause);
  }
}

void close_breaker(std::vector<Breaker>& breakers, TargetNumber target, std::uint64_t last_number) {
  close(*find(breakers, target), last_number);
}

bool has_breakers(const DispatchRules& rules) {
  return rules.failures && rules.breaker_documents > 0;
}

void forget_breakers(std::vector<Breaker>& breakers, const Context& context) {
  const bool none = !has_breakers(context.dispatch);
  std::erase_if(breakers, [&](const Breaker& one) { return none || !context.all_targets.contains(one.target); });
}

TargetSet open_targets(const std::vector<Breaker>& breakers) {
  TargetSet open;
  for (const Breaker& breaker : breakers)
    if (breaker.open) open |= TargetSet::of(breaker.target);
  return open;
}

TargetSet blocked_targets(const std::vector<Breaker>& breakers, UnixMs now) {
  TargetSet blocked;
  for (const Breaker& breaker : breakers)
    if (breaker.open && (breaker.until_resume || !is_due(breaker, now))) blocked |= TargetSet::of(breaker.target);
  return blocked;
}

std::optional<UnixMs> next_probe(const std::vector<Breaker>& breakers, TargetSet targets, UnixMs now) {
  std::optional<UnixMs> next;
  for (const Breaker& breaker : breakers) {
    if (!breaker.open || breaker.until_resume || !targets.contains(breaker.target)) continue;
    const UnixMs at = is_due(breaker, now) ? std::min(breaker.probe_at, now) : breaker.probe_at;
    if (!next || at < *next) next = at;
  }
  return next;
}

}  // namespace reseq::engine
