// UNREGISTER: table U.
// Thread rule: pure functions.
#pragma once

#include "engine/context.h"
#include "engine/ruling.h"
#include "engine/standing.h"
#include "model/command.h"
#include "model/partition_state.h"

namespace reseq::engine {

// The targets asked for, each in the row of the table that it meets.
struct UnregisterSets {
  TargetSet pending;       // U1
  TargetSet duplicate;     // U2
  TargetSet never_here;    // U3
  TargetSet superseded;    // U4
  TargetSet unregistered;  // U5
};
[[nodiscard]] UnregisterSets split(TargetSet targets, const Standing& at, bool below_barrier);

// The row of the whole command. REQUIRES: some set is not empty.
[[nodiscard]] TableRow classify(const UnregisterSets& sets);

// The same for `*`, which asks for what is pending at o. `behind`: o < barrier, or o < the row's newest order.
[[nodiscard]] TableRow classify_everything(const Standing& at, bool behind);

// `row` null = no row.
[[nodiscard]] Ruling decide_unregister(const Unregister& command, const Row* row, const PartitionState& state,
                                       const Context& context);

}  // namespace reseq::engine
