// Checks: what must be true of the owner of a partition at the end of a world, beside what the judge looks at.
// Thread rule: plain function.
#pragma once

#include "runtime/application/application.h"
#include "runtime/worker/partition_task.h"
#include "tests/judge/fold.h"
#include "tests/judge/verdict.h"
#include "tests/simulation/kafka/broker.h"

namespace reseq::simulation {

// The state that the owner holds is what the whole changelog folds to, and what is left of it after compaction.
void check_owner(const runtime::Application& application, Broker& broker, const judge::Fold& whole,
                 const runtime::PartitionTask& owner, judge::Verdict& verdict);

}  // namespace reseq::simulation
