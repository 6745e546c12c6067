#include "consumers/remote/upkeep.h"

#include <algorithm>
#include <spdlog/spdlog.h>

#include "base/log.h"

namespace reseq::remote {

void Upkeep::run() {
  auto tended = Clock::now();
  while (lanes_.pause(std::min(kAskEvery, tend_interval_))) {
    ask();
    if (Clock::now() - tended < tend_interval_) continue;
    tend();
    tended = Clock::now();
  }
}

void Upkeep::ask() {
  if (!is_idle()) return;
  Result<> there = look();
  if (!there) there = look();  // a server that was started again has closed the connection of before
  if (interrupted_ || !is_idle()) return;
  if (!there)
    tally_.trouble(there.error());
  else if (is_away_)
    tally_.good();
  is_away_ = !there;
}

Result<> Upkeep::look() {
  Result<bool> there = store_.is_there();
  if (!there) return there.error();
  if (there.value()) return Done{};
  return Error{ErrorClass::kInvalid, 0, store_.place() + " is not there any more"};
}

void Upkeep::tend() {
  if (Result<> tended = store_.tend(); !tended && !interrupted_)
    spdlog::warn("upkeep=failed words={}", log::outside(tended.error().message));
}

void Upkeep::interrupt() {
  interrupted_ = true;
  store_.interrupt();
}

}  // namespace reseq::remote
