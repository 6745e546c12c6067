// Restorer: reads the changelog of partitions that are being taken over, up to their high watermarks, and applies it.
//
// Invariants: "restored" means position >= high watermark asked after init_transactions, where control records count;
// waiting at the last stable offset below it means a transaction is open, not that the log has ended.
// Positions never fall. A copy that is caught up is first compared with the record in front of its position.
// To change what is read costs as much as all that is read, so many changes are made at once, by the next step, and
// what is not wanted any more is read on beside what is, as long as it is less than that.
// Thread rule: one worker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
  bool transaction_open = false;  // nothing more can be read, although the target is not reached
};

struct LogEnds {
  Offset begin;
  Offset high_watermark;
  Offset stable_end = high_watermark;  // of what can be read; asked before the other, so never a later one

  [[nodiscard]] bool transaction_open() const { return stable_end < high_watermark; }
};

// How many rows a store may hold in memory before a restore stops for a checkpoint.
struct MemoryLimit {
  std::size_t rows = SIZE_MAX;
  std::uint64_t bytes = UINT64_MAX;
  // So many times as much where a checkpoint cannot be written, or would be worth nothing after a crash, because a
  // transaction is not read to its end: by default more than the rows of a batch (batch_bytes_max).
  static constexpr std::uint64_t kRowsStretch = 4;
  static constexpr std::uint64_t kBytesStretch = 8;
};

class Restorer {
 public:
  // REQUIRES: reader outlives the restorer.
  Restorer(kafka::LogReader& reader, kafka::TopicIndex changelog, MemoryLimit limit);

  // Where the changelogs of these partitions begin and end now, in the order asked. Three calls, each with the limit.
  // kTimeout, kRetriable: ask again.
  Result<std::vector<LogEnds>> ends(std::span<const Partition> partitions, Milliseconds limit);

  // Begins to restore `store` from its position, or from `ends.begin` when it is empty, to the high watermark. Of a
  // partition that is being restored: goes on to that high watermark.
  void aim(Partition partition, const LogEnds& ends, store::PartitionStore& store);

  // Forgets a partition: nothing of it is applied any more.
  void drop(Partition partition);

  enum class Trouble : std::uint8_t {
    kPassing,     // the log could not be read on from there: ask for its ends again
    kOtherLog,    // the store does not come from this log
    kUnreadable,  // the log is damaged, or written by a newer version
    kFault,       // the store's copy cannot be read
  };
  struct Failure {
    Partition partition;
    Trouble trouble = Trouble::kPassing;
    Error error;
  };
  // Reads at most `records_max` records and applies them; fewer when a store should write a checkpoint. A failure names
  // a partition that is not restored any more; others go on. An error of the result concerns the reader.
  Result<std::vector<Failure>> step(std::size_t records_max, Milliseconds limit);

  // There is something to read, or to stop reading.
  [[nodiscard]] bool busy() const { return !restores_.empty() || reads_ != 0; }
  [[nodiscard]] bool restoring(Partition partition) const { return restores_.contains(partition); }
  // REQUIRES: the partition is being restored.
  [[nodiscard]] bool reached(Partition partition) const;
  [[nodiscard]] const Progress& progress(Partition partition) const;

 private:
  struct Restore {
    store::PartitionStore* store = nullptr;
    Progress progress;
    std::optional<Digest> record_before;  // what the record in front of the store's position was
  };
  Result<> assign();
  [[nodiscard]] bool assign_due() const;
  std::optional<Failure> apply(const kafka::Record& record, Restore& restore);
  [[nodiscard]] bool full(const store::PartitionStore& store) const;

  kafka::LogReader& reader_;
  kafka::TopicIndex changelog_;
  MemoryLimit limit_;
  std::map<Partition, Restore> restores_;
  std::size_t reads_ = 0;   // partitions that the reader was given last
  bool to_assign_ = false;  // one was aimed at since
};

}  // namespace reseq::changelog
