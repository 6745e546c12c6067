#include "runtime/worker/marker_pause.h"

#include <algorithm>

namespace reseq::runtime {

namespace {

constexpr std::int64_t kUsPerMs = 1'000;
constexpr std::int64_t kCommitsInAverage = 16;
constexpr std::int64_t kPausePerCommit = 3;  // measured: docs/decisions/0093

}  // namespace

void MarkerPause::committed(Milliseconds called, Milliseconds returned) {
  // One that hung says nothing of those to come.
  const std::int64_t took_us = std::min(returned.value() - called.value(), kPutOff.value()) * kUsPerMs;
  commit_us_ += (took_us - commit_us_) / kCommitsInAverage;
  const std::int64_t pause_ms = (commit_us_ * kPausePerCommit + kUsPerMs - 1) / kUsPerMs;
  until_ = Milliseconds(returned.value() + std::min(pause_ms, kPutOff.value()));
}

}  // namespace reseq::runtime
