// A worker with many partitions: what it asks the brokers, and how many steps it takes, must not grow with them.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Call;
using test::good;

#ifdef RESEQ_SANITIZED
constexpr std::int32_t kHeld = 64;
#else
constexpr std::int32_t kHeld = 500;
#endif
constexpr std::uint64_t kCallsMax = 20;  // of a takeover: it asks four times, and once more for each thing it waits for

class ManyPartitions : public SimulatedApplication {
 protected:
  ManyPartitions() : SimulatedApplication(kHeld) {
    application.delete_retention = Milliseconds(86'400'000);  // no heartbeats
    start();
  }

  void start() {
    worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
  }
  void step() {
    good(worker->step());
    ticks(1, 1);
  }
  [[nodiscard]] bool all_run() const {
    const auto& tasks = worker->tasks();
    return tasks.size() == kHeld &&
           std::all_of(tasks.begin(), tasks.end(), [](const auto& task) { return task->phase() == Phase::kRunning; });
  }
  struct Cost {
    std::uint64_t asked = 0;
    std::uint64_t assigned = 0;
  };
  // Until all run.
  Cost take_over() {
    const Cost before = cost();
    for (int i = 0; i < 10'000 && !all_run(); ++i) step();
    EXPECT_TRUE(all_run());
    return {cost().asked - before.asked, cost().assigned - before.assigned};
  }
  [[nodiscard]] Cost cost() {
    return {broker.faults().calls(Call::kCommitted) + broker.faults().calls(Call::kOffsets),
            broker.faults().calls(Call::kAssign)};
  }

  std::unique_ptr<Worker> worker;
};

TEST_F(ManyPartitions, AreBornWithAHandfulOfQuestions) {
  const Cost cost = take_over();
  EXPECT_LE(cost.asked, kCallsMax);
  EXPECT_LE(cost.assigned, kCallsMax);
}

TEST_F(ManyPartitions, AreTakenOverWithAHandfulOfQuestions) {
  (void)take_over();
  worker.reset();
  start();
  const Cost cost = take_over();
  EXPECT_LE(cost.asked, kCallsMax);
  EXPECT_LE(cost.assigned, kCallsMax);
}

// A checkpoint takes as long as the disk needs: many in a row would be a pause.
TEST_F(ManyPartitions, AreReadBetweenTheirCheckpoints) {
  (void)take_over();
  const std::uint64_t polls = broker.faults().calls(Call::kPoll);
  const auto written = [&] { return worker->totals().checkpoints; };
  for (int i = 0; i < 20'000 && written() < kHeld; ++i) step();
  ASSERT_EQ(written(), static_cast<std::uint64_t>(kHeld)) << "each gets its first one";
  EXPECT_GE(broker.faults().calls(Call::kPoll) - polls + 1, written());
}

}  // namespace
}  // namespace reseq::runtime
