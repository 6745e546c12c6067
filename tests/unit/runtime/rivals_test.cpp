// Two processes with one instance.id on two hosts, which fence each other in turns.
#include "runtime/takeover/rivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Draw;
using test::good;

constexpr int kRivalTicksMax = 60'000;  // ten minutes

class Fights : public SimulatedApplication, public testing::WithParamInterface<std::uint64_t> {
 protected:
  // A process of a host of its own.
  struct Host {
    Host(simulation::Broker& broker, const simulation::ClientSettings& clients, const Application& application,
         const Clock& clock)
        : kafka(broker, process, clients),
          worker(std::make_unique<Worker>(application, kafka, clock, shelf, [] { return HashKey{}; })) {}

    simulation::Process process;
    simulation::SimulatedCluster kafka;
    test::TempDir folder;
    Shelf shelf{folder.path(), "boot", {}};
    std::unique_ptr<Worker> worker;
  };

  std::unique_ptr<Host> start() { return std::make_unique<Host>(broker, clients_, application, clock); }
  void settle(Host& host) {
    for (int i = 0; i < 2'500; ++i) {
      good(host.worker->step());
      ticks(1);
    }
  }
  void request() {
    broker.append({*broker.topic("app.requests"), Partition(0)},
                  {"document", "{}", {{"reseq-seq", std::to_string(++sequence_)}}, broker.now()});
  }
  // Why the one that ended did; `newer_ended`: which.
  Error fight(Host& older, Host& newer, bool& newer_ended) {
    const std::uint64_t share = 20 + draw_.below(60);  // of the steps; hosts differ
    const std::uint64_t busy = draw_.below(3) * 20;    // a request every so many ticks; 0: none
    for (int i = 0; i < kRivalTicksMax; ++i) {
      newer_ended = draw_.below(100) < share;
      if (const auto stepped = (newer_ended ? newer : older).worker->step(); !stepped) return stepped.error();
      if (busy != 0 && draw_.below(busy) == 0) request();
      ticks(1);
    }
    return {ErrorClass::kTimeout, 0, "nobody ends"};
  }

  simulation::ClientSettings clients_ = [this] {
    simulation::ClientSettings made = SimulatedKafka::settings("1");
    made.topics = application.topics.names();
    return made;
  }();
  Draw draw_{GetParam()};
  std::uint64_t sequence_ = 0;
};

// What it has survived shortly before must not make the second one a newcomer beside the third.
TEST_P(Fights, AreWonByTheOneThatCameLastAlsoAgainstOneThatHasJustWonOne) {
  std::unique_ptr<Host> last = start();
  for (int rival = 0; rival < 3; ++rival) {
    settle(*last);
    std::unique_ptr<Host> newer = start();
    bool newer_ended = false;
    const Error error = fight(*last, *newer, newer_ended);
    EXPECT_THAT(error.message, testing::HasSubstr("another process runs with application.id app and instance.id"));
    ASSERT_FALSE(newer_ended) << "rival " << rival;
    last = std::move(newer);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Fights, testing::Range<std::uint64_t>(1, 31));

TEST(Rivals, LeaveASettledProcessAfterTwoProducersOrFourConsumersInAMinute) {
  Rivals producers(Milliseconds(0));
  EXPECT_FALSE(producers.producer_fenced(Milliseconds(20'000)));
  EXPECT_FALSE(producers.producer_fenced(Milliseconds(80'000))) << "a minute later";
  EXPECT_TRUE(producers.producer_fenced(Milliseconds(139'999)));
  Rivals consumers(Milliseconds(0));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(consumers.consumer_fenced(Milliseconds(20'000 + i), Rivals::kWithin));
  EXPECT_TRUE(consumers.consumer_fenced(Milliseconds(79'999), Rivals::kWithin));
}

TEST(Rivals, LeaveANewcomerAfterTwiceAsMany) {
  Rivals producers(Milliseconds(0));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(producers.producer_fenced(Milliseconds(9'000 + i * 9'000)));
  EXPECT_TRUE(producers.producer_fenced(Milliseconds(36'000)));
  Rivals consumers(Milliseconds(0));
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(consumers.consumer_fenced(Milliseconds(1'000 + i * 2'000), Rivals::kWithin));
  EXPECT_TRUE(consumers.consumer_fenced(Milliseconds(16'000), Rivals::kWithin));
}

// Each of them is fenced only every other turn.
TEST(Rivals, LeaveOneOfTwoNewcomersThatFenceEachOtherSlowly) {
  Rivals rivals(Milliseconds(0));
  int times = 0;
  for (bool ends = false; !ends && times < 20; ++times)
    ends = rivals.consumer_fenced(Milliseconds(1'000 + times * 19'000), Rivals::kWithin);
  EXPECT_LE(times, 8) << "it goes on for ever";
}

TEST(Rivals, LeaveWhoLosesItsConsumersOtherwiseAfterFourAlsoANewcomer) {
  Rivals rivals(Milliseconds(0));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(rivals.consumer_lost(Milliseconds(i), Rivals::kWithin));
  EXPECT_TRUE(rivals.consumer_lost(Milliseconds(3), Rivals::kWithin));
}

TEST(Rivals, MakeWhoHasSurvivedAFightSettledInTheNext) {
  Rivals rivals(Milliseconds(0));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(rivals.producer_fenced(Milliseconds(1'000 + i)));
  EXPECT_FALSE(rivals.producer_fenced(Milliseconds(21'002))) << "what it has survived counts in the next fight";
  EXPECT_TRUE(rivals.producer_fenced(Milliseconds(21'003))) << "it counts as a newcomer in the next fight";
}

}  // namespace
}  // namespace reseq::runtime
