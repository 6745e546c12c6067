// Phase: how far a partition is, from its takeover on. The words of logs, reports and docs/recovery.md.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace reseq::runtime {

enum class Phase : std::uint8_t {
  kOpen,
  kOffsets,
  kHighWatermark,
  kRestore,
  kCompare,
  kBirth,
  kReady,
  kRunning,
  kParked
};
[[nodiscard]] std::string_view name_of(Phase phase);

}  // namespace reseq::runtime
