// ReferenceReader: reads records of `requests` again for the partitions of a worker (referenced_records.h). In rounds:
// those that share one wait for each other, so that what is read and not yet let through stays below batch_bytes_max,
// but for the first partition of a round, whose turn has room for one record of any size.
//
// Who holds nothing by reference opens no client. Thread rule: one worker.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kafka/cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/worker/partition_task.h"

namespace reseq::runtime {

class ReferenceReader {
 public:
  using Tasks = std::vector<std::unique_ptr<PartitionTask>>;

  // REQUIRES: all of them outlive it; it outlives the records of the tasks.
  ReferenceReader(const Application& application, kafka::Cluster& cluster, const Clock& clock)
      : application_(application), cluster_(cluster), clock_(clock) {}

  // Reads some of what running tasks wait for. Waits for nothing.
  void step(const Tasks& tasks);
  // Something is being read: it may come at any time.
  [[nodiscard]] bool reading() const { return !round_.empty(); }

 private:
  void begin_round(const Tasks& tasks);
  void assign(const Tasks& tasks);
  void read(const Tasks& tasks);
  [[nodiscard]] bool take(kafka::LogPolled& polled, const Tasks& tasks);
  void cannot_read(const kafka::PartitionFailure& failure, PartitionTask& task);
  void failed(const Tasks& tasks, const Error& error);
  void wait_after(const Error& error);
  [[nodiscard]] PartitionTask* task(const Tasks& tasks, Partition partition) const;
  [[nodiscard]] kafka::TopicPartition place(Partition partition) const {
    return {application_.topics.of(Role::kRequests), partition};
  }

  const Application& application_;
  kafka::Cluster& cluster_;
  const Clock& clock_;
  std::unique_ptr<kafka::LogReader> reader_;
  std::map<Partition, Offset> round_;      // who is read, and from where; empty: nothing is
  std::map<Partition, unsigned> damaged_;  // how often in a row
  bool assigned_ = false;                  // as round_ says
  std::size_t first_ = 0;                  // of the tasks, in the next round
  Milliseconds retry_at_;
  Milliseconds told_at_;
  bool told_ = false;
};

}  // namespace reseq::runtime
