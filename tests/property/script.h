// Script: one random case as small plain numbers, so that a case that fails can be cut down to its smallest part. The
// world (world.h) turns it into producers, a pipeline, clocks and batches; a step that cannot be played is skipped, so
// every part of a script is a script.
// Invariant: zero is the plainest value of every field; shrinking moves fields towards it.
// Thread rule: plain values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <iosfwd>
#include <rapidcheck.h>
#include <string_view>
#include <vector>

namespace reseq::property {

enum class Action : std::uint8_t {
  kRequest,          // a producer writes its next sequence
  kBatch,            // the engine decides what waits
  kDeliver,          // the pipeline finishes one piece of work
  kDelete,           // a producer deletes the document
  kLateRequest,      // a producer writes a sequence below its newest
  kResend,           // a request is written again as it was
  kReuse,            // a request is written again with another payload or other targets
  kReprocess,        // a request is written again with `reseq-reprocess`
  kEpoch,            // a producer's counter starts again, with a higher epoch
  kReset,            // control record RESET
  kLose,             // the pipeline loses one piece of work for ever
  kUnregister,       // the pipeline gives one piece of work up
  kFork,             // the pipeline adds targets to a request that it once got
  kRegister,         // the pipeline registers an order of its own
  kStrayResult,      // a result that nobody asked for
  kStrayUnregister,  // an UNREGISTER that nobody asked for
  kClock,            // the host's clock steps
  kFloor,            // an operator raises the version floor
  kRefused,          // a record that the decoder refused
  kOverdue,          // timers fire in the next batch
  kExpire,           // an operator expires a document
  kByHand,           // an operator releases a result
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

// What the world is like, by index (see setting names in script.cpp).
enum class Setting : std::uint8_t {
  kDocumentCount,
  kTargetCount,
  kTap,
  kOnUnregistered,
  kOnUnregisteredTarget,
  kOnMissing,
  kMonotonic,
  kStarvation,
  kTimeout,
  kRoutes,
  kDefaultTargets,
  kEvents,
  kEpochs,
  kGate,
  kUnchanged,
  kCount,
};

struct Script {
  std::array<std::uint8_t, static_cast<std::size_t>(Setting::kCount)> settings{};
  std::vector<Step> steps;

  [[nodiscard]] std::uint8_t setting(Setting which) const { return settings[static_cast<std::size_t>(which)]; }
  friend bool operator==(const Script&, const Script&) = default;
};

[[nodiscard]] std::string_view name_of(Action action);

std::ostream& operator<<(std::ostream& out, const Script& script);

// Random scripts of 4 to about 110 steps, with shrinking.
[[nodiscard]] rc::Gen<Script> scripts();

}  // namespace reseq::property
