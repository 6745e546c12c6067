// The time of a simulated world. Brokers read it as it is; every process has a wall clock of its own on it, which may
// be wrong and may step. Steady clocks never step.
// Thread rule: one thread.
#pragma once

#include "base/assert.h"
#include "runtime/application/clock.h"

namespace reseq::simulation {

class VirtualTime {
 public:
  explicit VirtualTime(UnixMs start) : start_(start) {}

  void advance(Milliseconds by) {
    RESEQ_ASSERT(by.value() >= 0, "virtual time runs forward only");
    passed_ = Milliseconds(passed_.value() + by.value());
  }

  [[nodiscard]] UnixMs now() const { return UnixMs(start_.value() + passed_.value()); }
  [[nodiscard]] Milliseconds passed() const { return passed_; }

 private:
  UnixMs start_;
  Milliseconds passed_{0};
};

class ProcessClock final : public runtime::Clock {
 public:
  // `skew`: what the wall clock of this process is ahead of the brokers'.
  explicit ProcessClock(const VirtualTime& time, Milliseconds skew = Milliseconds(0)) : time_(time), skew_(skew) {}

  void step(Milliseconds by) { skew_ = Milliseconds(skew_.value() + by.value()); }

  [[nodiscard]] UnixMs now() const override { return UnixMs(time_.now().value() + skew_.value()); }
  [[nodiscard]] Milliseconds steady() const override { return time_.passed(); }

 private:
  const VirtualTime& time_;
  Milliseconds skew_;
};

}  // namespace reseq::simulation
