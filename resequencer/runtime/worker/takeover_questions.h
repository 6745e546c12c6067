// TakeoverQuestions: what the takeovers of a worker ask the brokers, one question for all its partitions. A question
// costs a round trip or two, whatever it is about; one for each of five hundred partitions would take minutes.
//
// Invariant: a partition whose answer does not come holds up no other one. An answer is for all that were asked for or
// for none, so when none comes half as many are asked for next time, beginning with the others; with an answer twice
// as many. Offsets of partitions with an open transaction in their changelog are asked for apart and seldom: if it has
// sent offsets, the answer waits for its end, and the worker for the answer.
// Thread rule: one worker.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "changelog/restorer.h"
#include "kafka/cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/worker/partition_task.h"

namespace reseq::runtime {

class TakeoverQuestions {
 public:
  // REQUIRES: application and clock outlive it.
  TakeoverQuestions(const Application& application, const Clock& clock) : application_(application), clock_(clock) {}

  // One question of each kind, to whom it concerns. `tasks` by partition.
  void ask(std::span<const std::unique_ptr<PartitionTask>> tasks, kafka::Consumer& consumer,
           changelog::Restorer& restorer);

 private:
  using Tasks = std::vector<PartitionTask*>;
  // Whose turn it is.
  struct Turn {
    std::size_t together = SIZE_MAX;  // so many are asked for at once
    Partition after{-1};              // the last one that was asked for
    Milliseconds not_before;
  };
  static Tasks next(Turn& turn, Tasks candidates);
  static void answered(Turn& turn);
  static void unanswered(Turn& turn, const Tasks& asked, Waiting what, const Error& error);

  void ask_offsets(const Tasks& tasks, kafka::Consumer& consumer, changelog::Restorer& restorer);
  void ask_offsets_of_open(Tasks tasks, kafka::Consumer& consumer);
  bool ask_offsets(Turn& turn, const Tasks& tasks, kafka::Consumer& consumer);
  void ask_ends(const Tasks& tasks, changelog::Restorer& restorer);
  void ask_first_offsets(const Tasks& tasks, kafka::Consumer& consumer, changelog::Restorer& restorer);
  [[nodiscard]] std::vector<kafka::TopicPartition> inputs_of(const Tasks& tasks) const;

  const Application& application_;
  const Clock& clock_;
  Turn offsets_;
  Turn offsets_of_open_;
  Turn ends_;
  Turn first_offsets_;
};

}  // namespace reseq::runtime
