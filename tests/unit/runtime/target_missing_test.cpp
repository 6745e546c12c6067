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
  application.settings.targets = {{.name = "archive"}};
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

// One document is sent at a time, for `search`; what came for `archive` has been registered nowhere yet.
class TargetOfTheQueue : public SimulatedApplication, public testing::WithParamInterface<const char*> {
 protected:
  TargetOfTheQueue() : SimulatedApplication(1, of_two_targets()) {
    Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
    request("under way", "search", {});
    steps(worker, 200);
    request("waits", "archive", {{"reseq-expires-at", std::to_string(clock.now().value() + kExpiresMs)}});
    steps(worker, 200);
    EXPECT_EQ(worker.tasks().front()->store().summary().counts[Count::kWaiting], 1U);
  }
  static config::Settings of_two_targets() {
    config::Settings settings = of_one_target();
    settings.targets.push_back({.name = "archive", .order = "monotonic"});
    settings.dispatch_mode = "journal";
    settings.dispatch_in_flight_max = 1;
    return settings;
  }
  // What the worker of a configuration without `archive` says when it ends; empty: it goes on.
  std::string without_archive() {
    config::Settings settings = of_two_targets();
    settings.targets.pop_back();
    settings.dispatch_mode = GetParam();
    Application other(settings);
    simulation::ClientSettings clients = SimulatedKafka::settings("1");
    clients.topics = other.topics.names();
    simulation::SimulatedCluster its(broker, process, clients);
    good(other.ask(its, simulation::kLimit));
    Worker worker(other, its, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 2'000; ++i) {
      const auto stepped = worker.step();
      ticks(1);
      if (!stepped) return stepped.error().message;
    }
    EXPECT_EQ(worker.tasks().front()->phase(), Phase::kRunning);
    return {};
  }
  void request(const std::string& id, const std::string& target, std::vector<simulation::StoredHeader> headers) {
    headers.insert(headers.end(), {{"reseq-seq", "1"}, {"reseq-targets", target}});
    broker.append({*broker.topic("app.requests"), Partition(0)}, {id, "{}", headers, broker.now()});
  }
  void steps(Worker& worker, int count) {
    for (int i = 0; i < count; ++i) {
      good(worker.step());
      ticks(1);
    }
  }

  static constexpr std::int64_t kExpiresMs = 60'000;
};

TEST_P(TargetOfTheQueue, IsMissedWhileOnlyWhatWaitsForItsDispatchNamesIt) {
  EXPECT_THAT(without_archive(), HasSubstr("documents still wait for target archive"));
}

TEST_P(TargetOfTheQueue, IsNotMissedWhenWhatWaitedForItHasExpired) {
  {
    Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
    for (int minutes = 0; minutes < 2; ++minutes) {
      ticks(20, kExpiresMs / 20);
      steps(worker, 200);
    }
    EXPECT_EQ(worker.tasks().front()->store().summary().counts[Count::kWaiting], 0U);
  }
  EXPECT_EQ(without_archive(), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, TargetOfTheQueue, testing::Values("journal", "immediate"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace reseq::runtime
