// Retention: takes old records of `requests` from the brokers of a world, and afterwards tells what was gone when its
// turn had come. What waits is none of it: it is held whole before it is taken.
// Thread rule: one thread.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "runtime/application/application.h"
#include "tests/judge/replay.h"
#include "tests/judge/verdict.h"
#include "tests/simulation/kafka/broker.h"
#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/recorder.h"
#include "tests/simulation/world/scenario.h"

namespace reseq::simulation {

class Retention {
 public:
  // REQUIRES: all of them outlive it.
  Retention(const Scenario& scenario, const runtime::Application& application, Broker& broker, Recorder& recorder,
            Counters& counters)
      : scenario_(scenario), application_(application), broker_(broker), recorder_(recorder), counters_(counters) {}

  // Of what was decided, all that is old enough.
  void take();
  // Batches of one partition in their order.
  void look_at(Partition partition, const judge::ReplayedBatch& batch, judge::Verdict& verdict);

 private:
  struct Seen {
    std::vector<UnixMs> batches;
    std::map<Offset, std::size_t> decided;  // requests, behind so many batches
    std::set<Offset> dispatched;            // of these only the place is kept
    std::map<Offset, std::size_t> gone;     // likewise, when they were first missed: they leave later
    std::map<Offset, UnixMs> unreadable;    // requests, the last time that they were
  };
  [[nodiscard]] Offset decided(Partition partition);

  const Scenario& scenario_;
  const runtime::Application& application_;
  Broker& broker_;
  Recorder& recorder_;
  Counters& counters_;
  std::map<Partition, Seen> seen_;
};

}  // namespace reseq::simulation
