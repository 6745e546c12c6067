// A worker that gives its producer up in the middle of a step goes on with that step, and takes over again.
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "runtime/shelf.h"
#include "runtime/worker.h"
#include "tests/simulation/kafka_rig.h"
#include "tests/support/process.h"

namespace reseq::runtime {
namespace {

using simulation::Call;
using simulation::Fault;
using test::good;

config::Settings some_settings() {
  config::Settings settings;
  settings.application_id = "app";
  settings.targets = {{"search", "", false, false}};
  return settings;
}

class WorkerRecycle : public simulation::SimulatedKafka {
 protected:
  WorkerRecycle() {
    for (const std::string& name : application.topics.names())
      broker.create_topic(name, {.partitions = 1, .max_message_bytes = 1'000'000});
    simulation::ClientSettings clients = SimulatedKafka::settings("1");
    clients.topics = application.topics.names();
    kafka = std::make_unique<simulation::SimulatedCluster>(broker, process, clients);
    good(application.ask(*kafka, simulation::kLimit));
    worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
  }

  void step_to(Phase phase) {
    for (int i = 0; i < 1'000; ++i) {
      if (!worker->tasks().empty() && worker->tasks().front()->phase() == phase) return;
      good(worker->step());
      ticks(1);
    }
    FAIL() << "it never gets there";
  }

  test::TempDir folder;
  config::Settings configured = some_settings();
  Application application{configured};
  simulation::ProcessClock clock{time};
  Shelf shelf{folder.path(), "boot", {}};
  std::unique_ptr<simulation::SimulatedCluster> kafka;
  std::unique_ptr<Worker> worker;
};

// The clients are due to be served when the assign has taken its ten seconds.
TEST_F(WorkerRecycle, AfterAnAssignThatTimesOut) {
  step_to(Phase::kReady);
  broker.settings().wait_max = Milliseconds(10'000);
  broker.faults().order(Call::kAssign, Fault::kTimeout);
  good(worker->step());
  EXPECT_EQ(worker->totals().recycled, 1U);
  broker.settings().wait_max = Milliseconds(20);
  step_to(Phase::kRunning);
}

}  // namespace
}  // namespace reseq::runtime
