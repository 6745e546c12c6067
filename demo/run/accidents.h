// Accidents: what happens to the processes of the pipeline, and when.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "demo/run/fleet.h"

namespace reseq::demo {

enum class Accident : unsigned char { kKill, kStartAgain, kStandStill, kGoOn };

struct PlannedAccident {
  std::chrono::seconds at;
  Accident what;
  std::size_t process;
};

class Accidents {
 public:
  // `launch_of`: the process of this number. REQUIRES: the plan is in the order of time, and outlives this.
  Accidents(Fleet& fleet, std::function<Launch(std::size_t)> launch_of, std::size_t processes,
            std::span<const PlannedAccident> plan)
      : fleet_(fleet), launch_of_(std::move(launch_of)), processes_(processes), plan_(plan) {}

  // Lets happen what is due so long after the load began. Call it often.
  Result<> happen(std::chrono::milliseconds since);
  // All have happened, and everybody runs again.
  [[nodiscard]] bool over() const;

  [[nodiscard]] std::uint64_t killed() const { return killed_; }
  [[nodiscard]] std::uint64_t stood_still() const { return stood_still_; }

 private:
  Fleet& fleet_;
  std::function<Launch(std::size_t)> launch_of_;
  std::size_t processes_;
  std::span<const PlannedAccident> plan_;
  std::size_t next_ = 0;
  std::uint64_t killed_ = 0;
  std::uint64_t stood_still_ = 0;
};

}  // namespace reseq::demo
