// ReferenceReader: reads records of `requests` again for the partitions of a worker (referenced_records.h). In rounds:
// those that share one wait for each other, so that what is read and has not left stays below batch_bytes_max, but for
// one partition, whose turn has room for one record of any size.
//
//   its log begins behind the record, or has another one there  -> gone
//   one is damaged                                              -> that one cannot be read, for now
//   its log cannot be read, or nothing comes                    -> the partition leaves the round, for a while; when
//                                                                  that has lasted for ten seconds, nothing of it can
//                                                                  be read
//
// Who holds nothing by reference opens no client. Thread rule: one worker.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/worker/partition_task.h"

namespace reseq::runtime {

class ReferenceReader {
 public:
  using Tasks = std::vector<std::unique_ptr<PartitionTask>>;

  // REQUIRES: all of them outlive it.
  ReferenceReader(const Application& application, kafka::Cluster& cluster, const Clock& clock)
      : application_(application), cluster_(cluster), clock_(clock) {}

  // Reads some of what running tasks wait for. Waits for nothing, but a second for a log to say where it begins.
  void step(const Tasks& tasks);
  // Tells what became of its connections, which otherwise only reading does. Now and then.
  void serve();
  // Something is being read: it may come at any time.
  [[nodiscard]] bool reading() const { return !round_.empty(); }

 private:
  struct Reading {
    Offset next;            // is read on from here
    Milliseconds heard_at;  // of it
  };

  void leave_round(const Tasks& tasks);
  void begin_round(const Tasks& tasks);
  void forget_unused(const Tasks& tasks);
  [[nodiscard]] bool open(const Tasks& tasks);
  void assign(const Tasks& tasks);
  void read(const Tasks& tasks);
  [[nodiscard]] bool take(const kafka::LogPolled& polled, const Tasks& tasks);
  void cannot_read(const kafka::PartitionFailure& failure, PartitionTask& task, Offset reading);
  void leave(PartitionTask& task, const std::string& why);
  void note_unread(PartitionTask& task);
  void failed(const Error& error, const Tasks& tasks);
  void tell(Partition partition, const std::string& why);
  void tell(const std::string& error);
  [[nodiscard]] PartitionTask* task(const Tasks& tasks, Partition partition) const;
  [[nodiscard]] kafka::TopicPartition place(Partition partition) const {
    return {application_.topics.of(Role::kRequests), partition};
  }
  [[nodiscard]] bool passed(Milliseconds since, Milliseconds pause) const {
    return clock_.steady().value() - since.value() >= pause.value();
  }

  const Application& application_;
  kafka::Cluster& cluster_;
  const Clock& clock_;
  std::unique_ptr<kafka::LogReader> reader_;
  std::map<Partition, Reading> round_;         // who is read; empty: nobody is
  std::map<Partition, Milliseconds> left_at_;  // who left a round because nothing came
  struct Unread {
    Milliseconds since;
    Milliseconds last;
  };
  std::map<Partition, Unread> unread_;         // who left one so since something was read of it
  bool assigned_ = false;                      // as round_ says
  std::size_t first_ = 0;                      // of the tasks, in the next round
  std::optional<Milliseconds> no_room_since_;  // for anybody who waits
  std::optional<Milliseconds> failed_at_;
  std::optional<Milliseconds> told_at_;
};

}  // namespace reseq::runtime
