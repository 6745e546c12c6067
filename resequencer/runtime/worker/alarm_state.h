// AlarmState: an alarm is raised, told again while it lasts, and cleared. What is wrong is judged elsewhere.
// Invariant: between two alarms raised lies one that is cleared.
// Thread rule: one worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/ids.h"

namespace reseq::runtime {

enum class AlarmState : unsigned char { kRaised, kLasts, kCleared };
[[nodiscard]] constexpr std::string_view name_of(AlarmState state) {
  constexpr std::array<std::string_view, 3> kNames = {"raised", "lasts", "cleared"};
  return kNames[static_cast<std::size_t>(state)];
}

class AlarmRun {
 public:
  // An alarm that lasts is told again after this.
  static constexpr Milliseconds kRepeat{60'000};

  // Tells what to log now, if anything. `is_bad`: bad enough to raise it; `is_over`: good enough to clear it, which is
  // less than not to raise it: what wavers does not flap.
  [[nodiscard]] std::optional<AlarmState> look(Milliseconds now, bool is_bad, bool is_over) {
    if (told_at_ && is_over) {
      told_at_.reset();
      return AlarmState::kCleared;
    }
    if (told_at_ ? now.value() - told_at_->value() < kRepeat.value() : !is_bad) return std::nullopt;
    const AlarmState state = told_at_ ? AlarmState::kLasts : AlarmState::kRaised;
    told_at_ = now;
    return state;
  }

 private:
  std::optional<Milliseconds> told_at_;  // while it is raised: when it was told last
};

// Of samples with a time, oldest first: the oldest that stays is the last one at or before the beginning of the window.
template <typename Samples>
void keep_window(Samples& samples, Milliseconds now, Milliseconds window) {
  while (samples.size() > 2 && now.value() - samples[1].at.value() >= window.value()) samples.pop_front();
}

}  // namespace reseq::runtime
