// World: one seed played to its end: brokers, processes, producers and a pipeline under a scheduler that draws what
// happens next; then everything heals, runs until it is quiet, and is judged.
// Thread rule: one thread.
#pragma once

#include <string>

#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/expected_end.h"
#include "tests/simulation/world/fleet.h"
#include "tests/simulation/world/history.h"
#include "tests/simulation/world/pipeline.h"
#include "tests/simulation/world/producers.h"
#include "tests/simulation/world/scenario.h"

namespace reseq::simulation {

class World {
 public:
  // `root`: an empty folder for the disks of the processes.
  World(std::uint64_t seed, const Guards& guards, const std::string& root);

  // The first thing found wrong, or nothing.
  [[nodiscard]] std::string play();

  [[nodiscard]] const Counters& counters() const { return counters_; }
  // The same for every play of the same seed.
  [[nodiscard]] std::uint64_t journal() { return broker_.journal().hash(); }

 private:
  void create_topics();
  void tick();
  void act();
  void trouble_a_disk(std::uint64_t what);
  void work(std::size_t i, std::size_t w, std::uint64_t steps);
  void pass(Milliseconds time);
  void compact();
  [[nodiscard]] std::optional<std::size_t> any(bool running);
  void heal();
  void finish_transactions();
  bool quiet();
  [[nodiscard]] std::string judge();
  [[nodiscard]] std::string judge_partition(Partition partition, Produced& produced, std::string& difference);
  void count();

  Draw draw_;
  Scenario scenario_;
  VirtualTime time_;
  Broker broker_;
  Counters counters_;
  runtime::Application application_;  // for the checks
  std::size_t topics_;
  Fleet fleet_;
  Producers producers_;
  Pipeline pipeline_;
  History history_;
};

}  // namespace reseq::simulation
