// OlderRequestsAlarm: decides when so many documents got only requests that are older than what is known that a person
// should look, and when that is over. Such requests are dropped like any late one, so that a producer whose counter
// started again would only be found by its victims.
// The limits are those of the alert ResequencerOnlyOlderRequests (deploy/prometheus/alerts.yml), for one worker.
// Invariant: no clock and no log, counts come in as values.
// Thread rule: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "runtime/worker/alarm_state.h"
#include "runtime/worker/older_requests.h"

namespace reseq::runtime {

class OlderRequestsAlarm {
 public:
  // Documents count for so long, so requests are judged over it, too.
  static constexpr Milliseconds kWindow = OlderRequests::kForgetAfter;
  // The documents are counted so often. Each counts only after minutes, so the alarm comes as soon as they are enough.
  static constexpr Milliseconds kStep{10'000};
  // Fewer are late, and others follow.
  static constexpr std::size_t kRaiseAtLeast = 50;
  // Of many documents a few get their last two requests in the wrong order: less than one in a hundred requests.
  static constexpr double kRaiseShare = 0.01;
  // It is over when one of both has fallen below the half.
  static constexpr double kClearAt = 0.5;

  // One line of the log.
  struct Told {
    AlarmState state = AlarmState::kRaised;
    std::size_t documents = 0;
    double per_s = 0;  // older requests, over the window
    double share = 0;  // of all requests, 0 .. 1
  };

  // Whether look() is to be called, whose count of documents costs something.
  [[nodiscard]] bool is_due(Milliseconds now) const {
    return samples_.empty() || now.value() - samples_.back().at.value() >= kStep.value();
  }
  // `documents`: that got only older requests lately. The other counts are since the start: requests that were older,
  // and all. Tells what to log now, if anything. REQUIRES: is_due(); neither time nor these two counts fall.
  [[nodiscard]] std::optional<Told> look(Milliseconds now, std::size_t documents, std::uint64_t older,
                                         std::uint64_t requests);

 private:
  struct Sample {
    Milliseconds at;
    std::uint64_t older = 0;
    std::uint64_t requests = 0;
  };

  std::deque<Sample> samples_;  // oldest first; the window lies between the first and the last
  AlarmRun run_;
};

}  // namespace reseq::runtime
