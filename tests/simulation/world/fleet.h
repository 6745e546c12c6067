// Fleet: the processes of a simulated world, each with its clock, its disk and its workers. What a kernel and a
// supervisor do to them is done here: start, kill -9, clean stop, pause, power loss.
// Invariant: a kill says goodbye to nobody: clients, workers and the shelf are destroyed as they are.
// Thread rule: one thread.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/worker/worker.h"
#include "tests/simulation/kafka/cluster.h"
#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/scenario.h"

namespace reseq::simulation {

class Fleet {
 public:
  // `root`: an empty folder for the disks. REQUIRES: all arguments but `root` outlive the fleet.
  Fleet(const Scenario& scenario, const Guards& guards, const engine::Gate* gate, VirtualTime& time, Broker& broker,
        std::string root, Counters& counters);
  ~Fleet();

  [[nodiscard]] std::size_t size() const { return instances_.size(); }
  [[nodiscard]] std::size_t workers() const { return scenario_.workers; }
  [[nodiscard]] bool runs(std::size_t i) const { return instances_[i].shelf != nullptr; }
  [[nodiscard]] bool paused(std::size_t i) const { return instances_[i].process.paused; }
  [[nodiscard]] const runtime::Worker& worker(std::size_t i, std::size_t w) const {
    return *instances_[i].members[w].worker;
  }
  [[nodiscard]] const runtime::Application& application(std::size_t i) const { return *instances_[i].application; }

  void start(std::size_t i);
  void kill(std::size_t i);
  void stop(std::size_t i);
  void pause(std::size_t i);
  void resume(std::size_t i);
  // One step of one worker. Nothing happens when the process does not run or is paused.
  void step(std::size_t i, std::size_t w);
  // kill -9 for all, at the end of the world.
  void take_all_down();
  void step_clock(std::size_t i, Milliseconds by);
  // The host of a process that is down: it starts again, loses a copy, or damages one.
  void power_loss(std::size_t i);
  void lose_copy(std::size_t i, Partition partition);
  void damage_copy(std::size_t i, Partition partition);

  // Its clock was stepped forward so far that it is not trusted: somebody has to start the process again.
  [[nodiscard]] bool clock_frozen(std::size_t i) const;
  // What must not have happened, or empty.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // All partitions run somewhere, and no worker is in a transaction.
  [[nodiscard]] bool settled() const;
  [[nodiscard]] const runtime::PartitionTask* owner(Partition partition) const;
  [[nodiscard]] std::string describe() const;

 private:
  struct Member {
    std::unique_ptr<SimulatedCluster> cluster;
    std::unique_ptr<runtime::Worker> worker;
  };
  struct Instance {
    explicit Instance(const VirtualTime& time, Milliseconds skew) : clock(time, skew) {}
    Process process;
    ProcessClock clock;
    std::uint64_t boots = 1;
    std::unique_ptr<runtime::Application> application;
    std::unique_ptr<runtime::Shelf> shelf;  // none: the process is down
    std::vector<Member> members;
    bool was_paused = false;
    std::int32_t paused_at_generation = 0;
  };

  static void ask(runtime::Application& application, SimulatedCluster& cluster);
  void take_down(Instance& instance);
  void note_crash(const Instance& instance);
  void collect(const runtime::Worker& worker);
  void look_for_trouble(const Instance& instance, const runtime::Worker& worker);
  void note_takeover(const runtime::Worker& worker);
  [[nodiscard]] std::string folder(std::size_t i, Partition partition) const;
  HashKey draw_key();

  const Scenario& scenario_;
  Guards guards_;
  const engine::Gate* gate_;
  Broker& broker_;
  std::string root_;
  Counters& counters_;
  std::deque<Instance> instances_;
  std::string trouble_;
};

}  // namespace reseq::simulation
