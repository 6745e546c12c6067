#include "engine/stamp.h"

#include <algorithm>

namespace reseq::engine {
namespace {

std::uint64_t floor_of(const Floors& floors, TargetNumber t) {
  const auto own = floors.by_target.find(t);
  return std::max(floors.global, own == floors.by_target.end() ? Version{} : own->second).value();
}

}  // namespace

Version clock_at(Version clock, UnixMs now) {
  return std::max(clock, version_at(now));
}

std::variant<Version, Reason> next_stamp(const PartitionState& state, TargetNumber t, std::optional<Version> observed,
                                         UnixMs now, Milliseconds max_clock_drift) {
  const std::uint64_t floor = floor_of(state.floors, t);
  const std::uint64_t seen = observed.value_or(Version{}).value();
  const std::uint64_t base = std::min(std::max(version_at(now).value(), floor), kVersionLimit);
  if (seen > base + std::min(version_at(UnixMs(max_clock_drift.value())).value(), kVersionLimit - 1))
    return Reason::kObservedVersionTooHigh;
  const std::uint64_t highest = std::max({state.clock.value(), floor, seen, state.last.value()});
  if (highest >= kVersionLimit - 1) return Reason::kVersionExhausted;
  return Version(highest + 1);
}

}  // namespace reseq::engine
