// LaneHeads: what strict and total targets of a partition wait for, as operators are told, also while it is taken over.
// Thread rule: one worker.
#pragma once

#include <optional>
#include <vector>

#include "model/row.h"
#include "runtime/worker/partition_task.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

// Of all lanes, what is skipped next.
[[nodiscard]] std::optional<LaneHead> next_gap_of(const PartitionTask& task);
// Of each lane in which a document has a place, what that waits for: in a total one that may be another document.
[[nodiscard]] std::vector<LaneHead> lane_heads_of(const PartitionTask& task, const Row& row);

}  // namespace reseq::runtime
