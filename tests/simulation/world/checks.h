// Checks: what must be true of a world at its end. Each returns the first thing found wrong, or nothing.
// Thread rule: plain functions.
#pragma once

#include <string>

#include "runtime/partition_task.h"
#include "tests/simulation/world/history.h"
#include "tests/simulation/world/pipeline.h"
#include "tests/simulation/world/replay.h"

namespace reseq::simulation {

// Every input was decided once, in order: the ranges of the meta rows tile each input from its birth to its end.
[[nodiscard]] std::string check_tiles(const runtime::Application& application, const History& history,
                                      Partition partition, const Replay& replay);

// Versions rise in each partition of each output.
[[nodiscard]] std::string check_versions(const runtime::Application& application, const History& history);

// The state that the owner holds is what the whole changelog folds to, and what is left of it after compaction.
[[nodiscard]] std::string check_fold(const runtime::Application& application, Broker& broker, const History& history,
                                     const runtime::PartitionTask& owner);

// No timer fired while an input that stood in the log at its deadline was not decided. REQUIRES: all clocks are right.
[[nodiscard]] std::string check_timers(const runtime::Application& application, const History& history,
                                       Partition partition, const Replay& replay);

// What was committed to work, outputs, dead letters and events is what the replay produced.
[[nodiscard]] std::string check_produced(const runtime::Application& application, const History& history,
                                         Produced& produced);

}  // namespace reseq::simulation
