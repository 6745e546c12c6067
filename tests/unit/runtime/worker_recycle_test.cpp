// A worker that gives its producer up in the middle of a step goes on with that step, and takes over again.
#include <gtest/gtest.h>

#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Call;
using simulation::Fault;
using test::good;

class WorkerRecycle : public SimulatedApplication {
 protected:
  void step_to(Phase phase) {
    for (int i = 0; i < 1'000; ++i) {
      if (!worker.tasks().empty() && worker.tasks().front()->phase() == phase) return;
      good(worker.step());
      ticks(1);
    }
    FAIL() << "it never gets there";
  }

  Worker worker{application, *kafka, clock, shelf, [] { return HashKey{}; }};
};

// The clients are due to be served when the assign has taken its ten seconds.
TEST_F(WorkerRecycle, AfterAnAssignThatTimesOut) {
  step_to(Phase::kReady);
  broker.settings().wait_max = Milliseconds(10'000);
  broker.faults().order(Call::kAssign, Fault::kNone);  // the changelog is read no more
  broker.faults().order(Call::kAssign, Fault::kTimeout);
  good(worker.step());
  EXPECT_EQ(worker.totals().recycled, 1U);
  broker.settings().wait_max = Milliseconds(20);
  step_to(Phase::kRunning);
}

}  // namespace
}  // namespace reseq::runtime
