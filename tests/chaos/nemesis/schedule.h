// Schedule: which fault begins when and how long it lasts, drawn from a seed before the run begins.
// Invariants: at most kAtOnce faults at a time, never two of one kind; all are over when the time is.
// Thread rule: plain function.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/chaos/nemesis/faults.h"

namespace reseq::chaos {

inline constexpr std::size_t kAtOnce = 2;

struct Planned {
  std::chrono::milliseconds begin{0};
  std::chrono::milliseconds end{0};
  std::size_t kind = 0;    // index into the kinds
  std::uint64_t seed = 0;  // of what the fault draws
};

// In the order of `begin`. REQUIRES: kinds is not empty.
[[nodiscard]] std::vector<Planned> draw_schedule(std::uint64_t seed, std::chrono::milliseconds length,
                                                 const std::vector<FaultKind>& kinds);

}  // namespace reseq::chaos
