// Restorer: reads the changelog of partitions that are being taken over, up to their high watermarks, and applies it.
//
// Invariants: "restored" means position >= high watermark asked after init_transactions, where control records count;
// waiting at the last stable offset below it means a transaction is open, not that the log has ended (RELIABILITY C19).
// Positions never fall.
// Thread rule: one worker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "model/ids.h"
#include "store/partition_store.h"

namespace reseq::changelog {

struct Progress {
  Offset from;      // where this restore began
  Offset position;  // next offset to read
  Offset target;    // high watermark to reach
  std::uint64_t records = 0;
};

class Restorer {
 public:
  // REQUIRES: reader outlives the restorer.
  Restorer(kafka::LogReader& reader, kafka::TopicIndex changelog);

  // Begins to restore `store` from `from` (kNoOffset = the beginning of the log) to the high watermark of now. Of a
  // partition that is being restored: goes on to the high watermark of now. kTimeout, kRetriable: call again.
  Result<> aim(Partition partition, std::optional<Offset> from, store::PartitionStore& store, Milliseconds limit);

  // Forgets a partition.
  void drop(Partition partition);

  struct Failure {
    Partition partition;
    Error error;
  };
  // Reads at most `records_max` records and applies them. A failure names the partition that must be parked; others go
  // on. An error of the result concerns the reader itself.
  Result<std::vector<Failure>> step(std::size_t records_max, Milliseconds limit);

  [[nodiscard]] bool restoring() const { return !restores_.empty(); }
  [[nodiscard]] bool restoring(Partition partition) const { return restores_.contains(partition); }
  // REQUIRES: the partition is being restored.
  [[nodiscard]] bool reached(Partition partition) const;
  [[nodiscard]] const Progress& progress(Partition partition) const;

 private:
  struct Restore {
    store::PartitionStore* store = nullptr;
    Progress progress;
  };
  Result<> assign();

  kafka::LogReader& reader_;
  kafka::TopicIndex changelog_;
  std::map<Partition, Restore> restores_;
};

}  // namespace reseq::changelog
