// PacedClock: the time by which a worker of the demo is late. Documents change as fast as the machine carries requests,
// so on a slow machine a delay of two seconds would be overtaken by hardly any other change, and the demo would show
// nothing. There time passes with the records; on a machine that keeps the pace, and when no more records come, it is
// that of the day.
// Thread rule: one thread.
#pragma once

#include <chrono>

namespace reseq::demo {

class PacedClock {
 public:
  using Duration = std::chrono::nanoseconds;
  // So much time passes without a record anyway.
  static constexpr Duration kSlack = std::chrono::seconds(1);
  // Records come no more when none came for so long; after end() for as long as the slack. A machine on which
  // everything stands still for seconds is no end.
  static constexpr Duration kLongestStall = std::chrono::seconds(10);

  // While records come, each lets time pass by at most `per_record`; 0: it is always that of the day.
  explicit PacedClock(Duration per_record) : per_record_(per_record) {}

  // So long after the last call a record has come, or none.
  void advance(Duration passed, bool record);
  // All records are on their way.
  void end() { longest_stall_ = kSlack; }
  // Since the beginning.
  [[nodiscard]] Duration now() const { return now_; }

 private:
  Duration per_record_;
  Duration now_{0};
  Duration credit_ = kSlack;  // may pass before the next record
  Duration without_record_{0};
  Duration longest_stall_ = kLongestStall;
};

}  // namespace reseq::demo
