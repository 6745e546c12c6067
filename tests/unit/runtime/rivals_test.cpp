// Two processes with one instance.id on two hosts, which fence each other in turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "runtime/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Draw;
using test::good;

constexpr int kRivalTicksMax = 60'000;  // ten minutes

class Rivals : public SimulatedApplication, public testing::WithParamInterface<std::uint64_t> {
 protected:
  static std::unique_ptr<Worker> on(simulation::SimulatedCluster& cluster, const Application& application,
                                    const Clock& clock, Shelf& shelf) {
    return std::make_unique<Worker>(application, cluster, clock, shelf, [] { return HashKey{}; });
  }
  void request() {
    broker.append({*broker.topic("app.requests"), Partition(0)},
                  {"document", "{}", {{"reseq-seq", std::to_string(++sequence_)}}, broker.now()});
  }
  // Why the one that ended did; `newer_ended`: which.
  Error fight(Worker& older, Worker& newer, bool& newer_ended) {
    const std::uint64_t share = 20 + draw_.below(60);  // of the steps; hosts differ
    const std::uint64_t busy = draw_.below(3) * 20;    // a request every so many ticks; 0: none
    for (int i = 0; i < kRivalTicksMax; ++i) {
      newer_ended = draw_.below(100) < share;
      if (const auto stepped = (newer_ended ? newer : older).step(); !stepped) return stepped.error();
      if (busy != 0 && draw_.below(busy) == 0) request();
      ticks(1);
    }
    return {ErrorClass::kTimeout, 0, "nobody ends"};
  }

  simulation::Process other_process_;
  simulation::ClientSettings clients_ = [this] {
    simulation::ClientSettings made = SimulatedKafka::settings("1");
    made.topics = application.topics.names();
    return made;
  }();
  simulation::SimulatedCluster other_kafka_{broker, other_process_, clients_};
  test::TempDir other_folder_;
  Shelf other_shelf_{other_folder_.path(), "boot", {}};
  Draw draw_{GetParam()};
  std::uint64_t sequence_ = 0;
};

TEST_P(Rivals, OfThemTheOneThatCameLastGoesOn) {
  const auto older = on(*kafka, application, clock, shelf);
  for (int i = 0; i < 1'200; ++i) {
    good(older->step());
    ticks(1);
  }
  const auto newer = on(other_kafka_, application, clock, other_shelf_);
  bool newer_ended = false;
  const Error error = fight(*older, *newer, newer_ended);
  EXPECT_THAT(error.message, testing::HasSubstr("another process runs with application.id app and instance.id"));
  EXPECT_FALSE(newer_ended);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Rivals, testing::Range<std::uint64_t>(1, 101));

}  // namespace
}  // namespace reseq::runtime
