// Watchdog: tells when a worker has been in one step for too long: a call of librdkafka that never returns
// (RELIABILITY A4), a disk that does not answer. Time is counted in looks that found no progress, not by a clock: a
// process that was paused, or a host that slept, is not stuck.
// Thread rule: one thread.
#pragma once

#include <cstdint>

namespace reseq::runtime {

class Watchdog {
 public:
  explicit Watchdog(std::uint64_t looks_max) : looks_max_(looks_max) {}

  // `steps`: how many the worker has begun so far. True: it has been in this one for looks_max looks.
  bool look(std::uint64_t steps) {
    looks_ = steps == steps_ ? looks_ + 1 : 0;
    steps_ = steps;
    return looks_ >= looks_max_;
  }

 private:
  std::uint64_t looks_max_;
  std::uint64_t looks_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace reseq::runtime
