// World: one seed played to its end: brokers, processes, producers and a pipeline under a scheduler that draws what
// happens next; then everything heals, runs until it is quiet, and is judged.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <string>

#include "tests/gate/window_gate.h"
#include "tests/judge/replay.h"
#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/fleet.h"
#include "tests/simulation/world/operators.h"
#include "tests/simulation/world/pipeline.h"
#include "tests/simulation/world/producers.h"
#include "tests/simulation/world/recorder.h"
#include "tests/simulation/world/retention.h"
#include "tests/simulation/world/scenario.h"

namespace reseq::simulation {

// What producers and pipeline know of their own records.
class WorldSpecification final : public judge::Specification {
 public:
  WorldSpecification(const Producers& producers, const Pipeline& pipeline, bool requests_go)
      : producers_(producers), pipeline_(pipeline), requests_go_(requests_go) {}
  [[nodiscard]] std::optional<Asked> asked(const judge::Record& request) const override;
  [[nodiscard]] bool excused(const Piece& piece) const override { return pipeline_.excused(piece); }
  [[nodiscard]] bool requests_go() const override { return requests_go_; }

 private:
  const Producers& producers_;
  const Pipeline& pipeline_;
  bool requests_go_;
};

class World {
 public:
  // `root`: an empty folder for the disks of the processes. `partitions`: 0 if it draws them.
  World(std::uint64_t seed, const Guards& guards, const std::string& root, std::int32_t partitions = 0,
        Profile profile = Profile::kPlain);

  // The first thing found wrong, or nothing.
  [[nodiscard]] std::string play();

  [[nodiscard]] const Counters& counters() const { return counters_; }
  // What was committed, and what was asked for. Complete after play().
  [[nodiscard]] const runtime::Application& application() const { return application_; }
  [[nodiscard]] const judge::History& history() const { return recorder_.history(); }
  [[nodiscard]] const judge::Specification& specification() const { return specification_; }
  // Of all that its Kafka was asked, in order, and of each record that was ever committed. The same for every play of
  // the same seed, by programs of one compiler: others evaluate arguments in another order, which draws other worlds.
  [[nodiscard]] std::uint64_t hash();

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
  void start_again(std::size_t i);
  void wait_for_dates(int round);
  void resume_targets();
  void finish_transactions();
  bool quiet();
  [[nodiscard]] std::string judge();
  void look_at(Partition partition, const judge::ReplayedBatch& batch);
  void count_turns(const judge::ReplayedBatch& batch);
  void count();

  Draw draw_;
  Scenario scenario_;
  VirtualTime time_;
  Broker broker_;
  Counters counters_;
  std::optional<gate::WindowGate> gate_;
  runtime::Application application_;  // for the checks
  std::size_t topics_;
  Fleet fleet_;
  Producers producers_;
  Pipeline pipeline_;
  Operators operators_;
  WorldSpecification specification_;
  Recorder recorder_;
  Retention retention_;
};

}  // namespace reseq::simulation
