// ClockWatch: notices when the wall clock steps forward. Deadlines are wall-clock times, so a bad step would make all
// timers due and all watermarks old at once. They freeze until the step is undone; a restart of the process takes the
// new time as confirmed.
// Invariants: slow drift is followed; a step back is harmless (versions never fall), and so is its correction.
// Thread rule: one worker.
#pragma once

#include <optional>

#include "model/ids.h"

namespace reseq::runtime {

class ClockWatch {
 public:
  explicit ClockWatch(Milliseconds jump_max) : jump_max_(jump_max) {}

  // Time to judge deadlines by: nothing while frozen. True in `stepped` when this call found the step.
  struct Seen {
    std::optional<UnixMs> now;
    bool stepped = false;
  };
  [[nodiscard]] Seen look(UnixMs wall, Milliseconds steady) {
    const std::int64_t difference = wall.value() - steady.value();
    const std::int64_t step = seen_ ? difference - trusted_ : 0;
    if (step > jump_max_.value()) {
      const bool first = !frozen_;
      frozen_ = true;
      return {std::nullopt, first};
    }
    if (!seen_ || step >= -jump_max_.value()) trusted_ = difference;
    seen_ = true;
    frozen_ = false;
    return {wall, false};
  }

 private:
  Milliseconds jump_max_;
  std::int64_t trusted_ = 0;  // wall - steady, as it was when they last agreed
  bool seen_ = false;
  bool frozen_ = false;
};

}  // namespace reseq::runtime
