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
  const std::uint64_t batches = tally_.counts().batches;
  Result<> there = store_.ask();
  // A server that was started again has closed the connection of before.
  if (!there && there.error().what_to_do == ErrorClass::kRetriable) there = store_.ask();
  if (!is_idle() || tally_.counts().batches != batches) return;
  if (there)
    tally_.good();
  else
    tally_.trouble(there.error());
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
