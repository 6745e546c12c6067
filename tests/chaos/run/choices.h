// What of all that a run could do it is to do. Each throws std::runtime_error where something is named that is not
// there.
// Thread rule: plain functions.
#pragma once

#include <string>
#include <vector>

#include "tests/chaos/nemesis/faults.h"
#include "tests/chaos/run/final_acts.h"
#include "tests/chaos/run/run.h"

namespace reseq::chaos {

[[nodiscard]] std::vector<FinalAct> choose_acts(const RunOptions& options);
// With nothing but final acts nothing is disturbed before them.
[[nodiscard]] std::vector<FaultKind> choose_kinds(const RunOptions& options);
// The birth of partitions is over when a backlog is there.
[[nodiscard]] std::vector<std::string> choose_points(const RunOptions& options);

}  // namespace reseq::chaos
