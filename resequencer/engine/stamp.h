// Stamp: the version of a release, a hybrid logical clock per partition. `clock` follows the wall clock and
// never falls; `last` follows the stamps given; floors are an operator's. They are kept apart, so that one high
// observed version or floor cannot push the clock away from the time. Thread rule: pure functions.
#pragma once

#include <optional>
#include <variant>

#include "model/partition_state.h"
#include "model/reason.h"

namespace reseq::engine {

// max(clock, now << 16): at the start of every batch.
[[nodiscard]] Version clock_at(Version clock, UnixMs now);

// The version that the next release to t gets, or why it gets none: the observed version lies further in the future
// than max_clock_drift above the time and the floor, or all versions below 2^63 are used up.
[[nodiscard]] std::variant<Version, Reason> next_stamp(const PartitionState& state, TargetNumber t,
                                                       std::optional<Version> observed, UnixMs now,
                                                       Milliseconds max_clock_drift);

}  // namespace reseq::engine
