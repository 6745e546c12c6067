// BadRecords: decides when so many inputs become dead letters that a person should look, and when that is over. A bad
// record stops nothing, so without an alarm a producer that went wrong would only be found by its victims.
// Bad = dead-lettered or sent to the topic of on_missing, whatever the reason; what order or a policy drops is not.
// Invariant: no clock and no log, counts come in as values.
// Thread rule: one worker.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "model/ids.h"
#include "model/reason.h"
#include "runtime/worker/alarm_state.h"

namespace reseq::runtime {

using CountsByReason = std::array<std::uint64_t, static_cast<std::size_t>(Reason::kCount)>;

// One line of the log.
struct BadRecordsAlarm {
  AlarmState state = AlarmState::kRaised;
  double per_s = 0;               // bad records per second
  double share = 0;               // of all inputs, 0 .. 1
  Reason reason = Reason::kNone;  // the most frequent one; kNone when none was bad
};

class BadRecords {
 public:
  // What is counted and judged at a time. As long as the log's stats, so that both tell the same.
  static constexpr Milliseconds kWindow{10'000};
  // The window moves in steps of this, so an alarm comes that soon.
  static constexpr Milliseconds kStep{1'000};
  // Fewer in a window are a matter for whoever reads the dead letters, however few inputs there are.
  static constexpr std::uint64_t kRaiseAtLeast = 10;
  // One in a hundred is no accident any more.
  static constexpr double kRaiseShare = 0.01;
  // At a high rate of inputs even a small share is a lot of documents that are not updated.
  static constexpr double kRaisePerSecond = 10;
  // It is over when all of this has fallen below the half: a rate that wavers does not flap.
  static constexpr double kClearAt = 0.5;

  // Counts since the start: all inputs, and the bad ones by reason. To be called often; tells what to log now, if
  // anything. REQUIRES: neither time nor counts fall.
  [[nodiscard]] std::optional<BadRecordsAlarm> look(Milliseconds now, std::uint64_t inputs, const CountsByReason& bad);

  // Bad records per second in the window that was judged last.
  [[nodiscard]] double per_s() const { return per_s_; }

 private:
  struct Sample {
    Milliseconds at;
    std::uint64_t inputs = 0;
    CountsByReason bad{};
  };

  std::deque<Sample> samples_;  // oldest first; the window lies between the first and the last
  double per_s_ = 0;
  AlarmRun run_;
};

}  // namespace reseq::runtime
