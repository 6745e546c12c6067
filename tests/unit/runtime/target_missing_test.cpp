// A target that was taken out of the configuration while documents wait for it: all rows are looked at, which a slow
// disk needs many minutes for, so the worker has to be heard of meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Call;
using test::good;
using testing::HasSubstr;

constexpr int kDocuments = 45'000;
constexpr std::uint64_t kLooks = kDocuments / 10'000;

class TargetMissing : public SimulatedApplication {
 protected:
  TargetMissing() {
    for (int i = 0; i < kDocuments; ++i)
      broker.append({*broker.topic("app.requests"), Partition(0)},
                    {"document-" + std::to_string(i), "{}", {{"reseq-seq", "1"}}, broker.now()});
    Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 100'000 && worker.totals().inputs != kDocuments; ++i) step(worker);
    EXPECT_EQ(worker.totals().inputs, static_cast<std::uint64_t>(kDocuments));
    for (int i = 0; i < 10; ++i) step(worker);  // until it is committed
  }
  void step(Worker& worker) {
    good(worker.step());
    ticks(1);
  }
};

TEST_F(TargetMissing, IsLookedForWhileTheWorkerGoesOnPolling) {
  application.settings.targets = {{"archive", "", false, false}};
  Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
  std::uint64_t polls_before = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (polls_before == 0 && !worker.tasks().empty() && worker.tasks().front()->phase() == Phase::kCompare)
      polls_before = broker.faults().calls(Call::kPoll);
    const auto stepped = worker.step();
    ticks(1);
    if (stepped) continue;
    EXPECT_THAT(stepped.error().message, HasSubstr("search"));
    EXPECT_GE(broker.faults().calls(Call::kPoll) - polls_before, kLooks);
    return;
  }
  ADD_FAILURE() << "it works without the target that documents wait for";
}

}  // namespace
}  // namespace reseq::runtime
