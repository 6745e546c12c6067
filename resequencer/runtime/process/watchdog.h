// Watchdog: tells when a worker has been in one step for too long: a call of librdkafka that never returns, a disk
// that does not answer. One that is slow answers: progress is a step that was begun, or a page that a disk has given or
// taken meanwhile. Time is counted in looks that found no progress, not by a clock: a process that was paused, or a
// host that slept, is not stuck.
// Thread rule: one thread.
#pragma once

#include <cstdint>

namespace reseq::runtime {

class Watchdog {
 public:
  explicit Watchdog(std::uint64_t looks_max) : looks_max_(looks_max) {}

  // `progress`: how much the worker has made so far; it never falls. True: none for looks_max looks.
  bool look(std::uint64_t progress) {
    looks_ = progress == progress_ ? looks_ + 1 : 0;
    progress_ = progress;
    return looks_ >= looks_max_;
  }
  // The last look has found some.
  [[nodiscard]] bool moves() const { return looks_ == 0; }

 private:
  std::uint64_t looks_max_;
  std::uint64_t looks_ = 0;
  std::uint64_t progress_ = 0;
};

}  // namespace reseq::runtime
