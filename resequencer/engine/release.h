// Release: the exit to the outputs. Every result that is released passes here, with the stamp that it was given.
// Thread rule: one thread.
#pragma once

#include "engine/effects.h"
#include "engine/ruling.h"
#include "model/partition_state.h"

namespace reseq::engine {

// REQUIRES: the ruling says kReleased.
inline void release(Effects& effects, PartitionState& state, const Ruling& ruling, InputIndex input) {
  const RowEdit& edit = ruling.edit;
  state.last = edit.version;
  effects.send(input, Release{*edit.served, edit.order, ruling.op, edit.version});
}

}  // namespace reseq::engine
