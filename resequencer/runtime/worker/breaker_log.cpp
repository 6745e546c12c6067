#include "runtime/worker/breaker_log.h"

#include <algorithm>

namespace reseq::runtime {

namespace {

// A target that an older configuration has left behind has no name here.
bool is_known(const Breaker& breaker, const TargetTable& targets) {
  return breaker.open && breaker.target.value() < targets.names().size();
}

// The same one: it may have been closed and opened again meanwhile.
bool is_open_in(const std::vector<Breaker>& breakers, const Breaker& breaker) {
  return std::any_of(breakers.begin(), breakers.end(), [&](const Breaker& one) {
    return one.open && one.target == breaker.target && one.opened_at == breaker.opened_at;
  });
}

}  // namespace

std::vector<BreakerChange> changes_between(const std::vector<Breaker>& before, const std::vector<Breaker>& after,
                                           Partition partition, const TargetTable& targets, UnixMs now) {
  std::vector<BreakerChange> changes;
  for (const Breaker& one : before)
    if (is_known(one, targets) && !is_open_in(after, one))
      changes.push_back({partition, targets.name(one.target), false, now, {}});
  for (const Breaker& one : after)
    if (is_known(one, targets) && !is_open_in(before, one))
      changes.push_back({partition, targets.name(one.target), true, one.opened_at, one.error});
  return changes;
}

void BreakerLog::add(const std::vector<BreakerChange>& changes) {
  changes_.insert(changes_.end(), changes.begin(), changes.end());
  if (changes_.size() > kChangesMax) changes_.erase(changes_.begin(), changes_.end() - kChangesMax);
}

}  // namespace reseq::runtime
