// Hunters: every process always has a failpoint to die at, until each point has killed often enough.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tests/chaos/nemesis/faults.h"

namespace reseq::chaos {

class Hunters {
 public:
  // REQUIRES: what the scene refers to outlives it; no process has been started yet.
  Hunters(Scene scene, std::uint64_t kills);

  void step();
  // Each point has killed so often, or too much time went by without a death.
  [[nodiscard]] bool done() const;
  void end();

 private:
  Scene scene_;
  std::uint64_t kills_;
  std::vector<std::optional<Hunt>> hunts_;
  std::uint64_t deaths_ = 0;
  Clock::time_point death_at_ = Clock::now();
};

}  // namespace reseq::chaos
