// History: one random case as small plain numbers, so that a case that fails can be cut down. A feed (feed.h) makes
// inputs, batches and times of it; a step that cannot be played is skipped, so every part of a history is a history.
// Invariant: zero is the plainest value of every field; shrinking moves fields towards it.
// Thread rule: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <rapidcheck.h>
#include <string_view>
#include <vector>

#include "tests/journal/job.h"

namespace reseq::journal {

enum class Action : std::uint8_t {
  kRequest,          // a producer writes its next order
  kBatch,            // what has come is decided, and what is due
  kAnswer,           // a worker sends a result
  kClock,            // the host's clock steps, now and then back
  kDelete,           // a producer deletes the document
  kLateRequest,      // a producer writes an order below its newest
  kResend,           // a request is written again, now and then with other wishes
  kReuse,            // a request is written again with another payload
  kLose,             // a worker loses a piece of work for ever
  kHeartbeat,        // a worker says that it is at work
  kUnregister,       // a worker gives a piece of work up
  kFork,             // a worker adds targets to an order that it got
  kRegister,         // a worker registers an order of its own
  kRegisterDelete,   // likewise a delete, for some targets or for all
  kForkDelete,       // a worker registers an order that it got as a delete, for some targets or for all
  kStrayResult,      // a result that nobody asked for
  kStrayUnregister,  // an UNREGISTER that nobody asked for
  kExpire,           // an operator gives up what a document waits for
  kNow,              // an operator lets what waits of a document go at once
  kPostpone,         // an operator puts off what waits of a document
  kFail,             // a worker could not do a piece of work, or all that it got with it
  kStrayFail,        // a failure of what nobody was given
  kDown,             // a worker could not reach the target of a piece of work
  kResume,           // an operator says that targets are there again
  kCount,
};

struct Step {
  Action action = Action::kRequest;
  std::uint8_t document = 0;
  std::uint8_t pick = 0;
  std::uint8_t targets = 0;
  std::uint8_t flavour = 0;
  std::uint8_t amount = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

// By index: in_flight_max, one_at_a_time, idle_from, consolidate, timeouts_max, last_attempt_only, retries_max and
// repeats_max, breaker_documents, potent.
inline constexpr std::size_t kSettings = 9;

struct History {
  std::array<std::uint8_t, kSettings> settings{};
  std::vector<Step> steps;
  friend bool operator==(const History&, const History&) = default;
};

[[nodiscard]] Rules rules_of(const History& history);

std::ostream& operator<<(std::ostream& out, const History& history);

// Random histories of 4 to about 110 steps, with shrinking.
[[nodiscard]] rc::Gen<History> histories();

}  // namespace reseq::journal
