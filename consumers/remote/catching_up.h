// CatchingUp: lines that tell how far a sink is while it is behind: percent, rate, time left. Nothing is said when it
// keeps up.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace reseq::remote {

class CatchingUp {
 public:
  using Clock = std::chrono::steady_clock;
  // Below this lag nothing is told, but once that it has caught up.
  static constexpr std::int64_t kBehind = 10'000;
  static constexpr std::chrono::seconds kTellEvery{5};

  // `lag`: offsets that are left; `done`: records done so far. A line to log, if it is time for one.
  std::optional<std::string> look(std::int64_t lag, std::uint64_t done, Clock::time_point now);
  // Instead of look(), while the server takes nothing: that is told elsewhere, and the time does not count.
  void wait(std::uint64_t done, Clock::time_point now) {
    done_at_last_ = done;
    last_ = now;
  }

 private:
  bool is_behind_ = false;
  std::uint64_t done_at_begin_ = 0;
  std::uint64_t done_at_last_ = 0;
  Clock::time_point last_;
};

}  // namespace reseq::remote
