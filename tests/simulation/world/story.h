// Story: the batches of a partition for a person: what came in, what was decided, what left.
// Thread rule: plain function.
#pragma once

#include <iosfwd>

#include "tests/simulation/world/replay.h"

namespace reseq::simulation {

void tell(const Replay& replay, std::ostream& out);

}  // namespace reseq::simulation
