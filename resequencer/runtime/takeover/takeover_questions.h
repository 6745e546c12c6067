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
#include <vector>

#include "changelog/restorer.h"
#include "kafka/cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/takeover/standstill.h"
#include "runtime/takeover/takeover.h"

namespace reseq::runtime {

class TakeoverQuestions {
 public:
  // REQUIRES: application and clock outlive it.
  TakeoverQuestions(const Application& application, const Clock& clock) : application_(application), clock_(clock) {}

  using Takeovers = std::vector<Takeover*>;
  // One question of each kind, to whom it concerns. `all` by partition.
  void ask(const Takeovers& all, kafka::Consumer& consumer, changelog::Restorer& restorer);

 private:
  // Whose turn it is.
  struct Turn {
    std::size_t together = SIZE_MAX;  // so many are asked for at once
    Partition after{-1};              // the last one that was asked for
    Milliseconds not_before;
  };
  static Takeovers next(Turn& turn, Takeovers candidates);
  static void answered(Turn& turn);
  static void unanswered(Turn& turn, const Takeovers& asked, Waiting what, const Error& error);

  void ask_offsets(const Takeovers& takeovers, kafka::Consumer& consumer, changelog::Restorer& restorer);
  void ask_offsets_of_open(Takeovers takeovers, kafka::Consumer& consumer);
  bool ask_offsets(Turn& turn, const Takeovers& takeovers, kafka::Consumer& consumer);
  void ask_ends(const Takeovers& takeovers, changelog::Restorer& restorer);
  void ask_first_offsets(const Takeovers& takeovers, kafka::Consumer& consumer, changelog::Restorer& restorer);
  [[nodiscard]] std::vector<kafka::TopicPartition> inputs_of(const Takeovers& takeovers) const;

  const Application& application_;
  const Clock& clock_;
  Turn offsets_;
  Turn offsets_of_open_;
  Turn ends_;
  Turn first_offsets_;
};

}  // namespace reseq::runtime
