// Story: a batch for a person: what came in, what was decided, what left.
// Thread rule: plain function.
#pragma once

#include <iosfwd>

#include "tests/judge/replay.h"

namespace reseq::judge {

void tell(Partition partition, const ReplayedBatch& batch, std::ostream& out);

}  // namespace reseq::judge
