// Opens a Stage whose results and offsets go through transactions of a cluster.
// Thread rule: any thread; the stage belongs to one.
#pragma once

#include <memory>

#include "base/result.h"
#include "consumers/stage/stage.h"
#include "kafka/cluster.h"

namespace reseq::stage {

// REQUIRES: limits with a commit after work. The topics of the cluster are `work` and `commands`, in this order. The
// group is joined while the stage is polled.
Result<std::unique_ptr<Stage>> open_transactional_stage(std::shared_ptr<kafka::Cluster> cluster, StageLimits limits,
                                                        LeaseKeeping leases = {});

}  // namespace reseq::stage
