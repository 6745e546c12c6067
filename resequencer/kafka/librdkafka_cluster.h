// The cluster as librdkafka reaches it: makes the clients of one worker.
// Thread rule: one thread; so is every client it makes, each may live on a thread of its own.
#pragma once

#include <memory>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/settings.h"

namespace reseq::kafka {

// Checks the settings and the loaded version of librdkafka. No broker is asked yet. kInvalid names the fix.
[[nodiscard]] Result<std::unique_ptr<Cluster>> open_cluster(ClusterSettings settings);

}  // namespace reseq::kafka
