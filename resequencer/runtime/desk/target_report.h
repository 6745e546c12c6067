// What an instance tells of each target: what waits for it in its partitions, and what its workers have released to it.
// There are as many as the configuration has, at most 64.
// Thread rule: pure functions of what workers have published.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/application/application.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

struct TargetReport {
  std::string target;
  Survey::ForTarget waits;     // of the partitions that were surveyed
  bool surveyed = false;       // at least one was
  std::uint64_t released = 0;  // since the process began
  double per_s = 0;            // over the last seconds
  std::uint64_t down = 0;      // partitions in which it cannot be reached
  Milliseconds quiet;          // since the last release, or since the process began
};

// In the order of the configuration.
[[nodiscard]] std::vector<TargetReport> target_reports(const Application& application,
                                                       const std::vector<Board::Seen>& seen);

}  // namespace reseq::runtime
