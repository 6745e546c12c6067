// SEQUENCE: table S.
// Thread rule: pure functions.
#pragma once

#include "engine/context.h"
#include "engine/ruling.h"
#include "model/command.h"
#include "model/partition_state.h"

namespace reseq::engine {

// What the rows of the table are told apart by.
struct SequenceFacts {
  bool behind = false;     // newest(t) > o, or o < barrier
  bool completed = false;  // nothing is pending
  bool monotonic = false;  // behind, but t may be released at rising older orders and this one rises
  bool pending = false;    // t at o, newest(t) = o
  bool served = false;
  bool removed = false;
  bool never_here = false;  // o is the order of a group, and t was never registered
  bool too_large = false;   // for the output of t
};
[[nodiscard]] TableRow classify(const SequenceFacts& facts);

// `row` null = no row.
[[nodiscard]] Ruling decide_sequence(const SequenceResult& command, const Row* row, const PartitionState& state,
                                     const Context& context);

// The same by an operator's hand: where t is not registered at o, or no longer, it is registered and released at once.
[[nodiscard]] Ruling decide_forced(const SequenceResult& command, const Row* row, const PartitionState& state,
                                   const Context& context);

}  // namespace reseq::engine
