#include "tests/chaos/run/stalls.h"

#include <algorithm>

namespace reseq::chaos {

Stalls::Stalls(std::size_t partitions, Time now) : places_(partitions) {
  begin_anew(now);
}

void Stalls::take(const std::vector<Standing>& all, Time now) {
  answered_ms_ = now.count();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (all[i].waits && all[i].position == places_[i].position) continue;
    places_[i].position = all[i].position;
    places_[i].since_ms = now.count();
  }
}

void Stalls::begin_anew(Time now) {
  answered_ms_ = now.count();
  for (Place& place : places_) place.since_ms = now.count();
}

Stall Stalls::longest(Time now) const {
  Stall longest{.unanswered = now - Time(answered_ms_)};
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (const Time lasts = now - Time(places_[i].since_ms); lasts > longest.lasts) {
      longest.partition = static_cast<int>(i);
      longest.lasts = lasts;
    }
  return longest;
}

}  // namespace reseq::chaos
