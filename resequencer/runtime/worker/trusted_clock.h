// TrustedClock: the wall clock without its forward steps. Deadlines and versions are wall-clock times, so a bad step
// would make all timers due and all watermarks old at once, and would raise versions for ever. After a step larger than
// max_clock_jump_ms time goes on as if it had not happened, and frozen() says so, until it is undone; a restart of the
// process takes the new time as confirmed.
// Invariants: slow drift is followed; a step back is followed (versions never fall anyway), and so is its correction.
// Thread rule: one worker.
#pragma once

#include "model/ids.h"
#include "runtime/application/clock.h"

namespace reseq::runtime {

class TrustedClock final : public Clock {
 public:
  // REQUIRES: clock outlives it.
  TrustedClock(const Clock& clock, Milliseconds jump_max) : clock_(clock), jump_max_(jump_max) {}

  [[nodiscard]] UnixMs now() const override {
    const UnixMs wall = clock_.now();
    const Milliseconds steady = clock_.steady();
    const std::int64_t difference = wall.value() - steady.value();
    const std::int64_t step = seen_ ? difference - trusted_ : 0;
    frozen_ = step > jump_max_.value();
    if (frozen_) return UnixMs(steady.value() + trusted_);
    if (!seen_ || step >= -jump_max_.value()) trusted_ = difference;
    seen_ = true;
    return wall;
  }
  [[nodiscard]] Milliseconds steady() const override { return clock_.steady(); }

  // The last now() was not that of the wall clock: timers and the watermark sweep must wait.
  [[nodiscard]] bool frozen() const { return frozen_; }

 private:
  const Clock& clock_;
  Milliseconds jump_max_;
  mutable std::int64_t trusted_ = 0;  // wall - steady, as it was when they last agreed
  mutable bool seen_ = false;
  mutable bool frozen_ = false;
};

}  // namespace reseq::runtime
