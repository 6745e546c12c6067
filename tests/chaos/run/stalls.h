// Stalls: for how long inputs of each partition have waited without being read on, out of answers of the brokers.
//
// Only an answer moves anything: a question that failed proves no stall and excuses none. A stall is measured from the
// last answer that showed progress, or that nothing waited; so what began while nobody answered counts from before it.
// Thread rule: take() by one thread, the rest by any. Time is an argument: of a clock that never steps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reseq::chaos {

// What one partition is at.
struct Standing {
  std::int64_t position = 0;  // both inputs together
  bool waits = false;         // something can be read
};

struct Stall {
  int partition = 0;
  std::chrono::milliseconds lasts{0};
  std::chrono::milliseconds unanswered{0};  // since the last answer, of any partition
};

class Stalls {
 public:
  using Time = std::chrono::milliseconds;

  Stalls(std::size_t partitions, Time now);

  // An answer. REQUIRES: one for each partition.
  void take(const std::vector<Standing>& all, Time now);
  // Everything before counts no more.
  void begin_anew(Time now);
  // The longest of all partitions.
  [[nodiscard]] Stall longest(Time now) const;

 private:
  struct Place {
    std::atomic<std::int64_t> since_ms = 0;
    std::int64_t position = -1;  // of the last answer
  };
  std::vector<Place> places_;
  std::atomic<std::int64_t> answered_ms_ = 0;
};

}  // namespace reseq::chaos
