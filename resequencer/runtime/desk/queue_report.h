// What an instance tells of the queues of its partitions: what waits for its dispatch and what is under way since, by
// priority. There are as many as are in use, at most 256.
// Thread rule: pure functions of what workers have published.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/worker/report.h"

namespace reseq::runtime {

struct QueueReport {
  std::uint8_t priority = 0;
  std::uint64_t waiting = 0;        // documents
  std::uint64_t processing = 0;     // documents
  std::optional<UnixMs> due_since;  // of the order that is due for longest, of the partitions that were surveyed
};

// Of one partition, rising; what nobody has in use is left out.
[[nodiscard]] std::vector<QueueReport> queue_report(const PartitionReport& partition);
// Of these partitions together. `always`: this priority is there in any case, so that its numbers have a beginning.
[[nodiscard]] std::vector<QueueReport> queue_report(const std::vector<const PartitionReport*>& partitions,
                                                    std::uint8_t always);

}  // namespace reseq::runtime
