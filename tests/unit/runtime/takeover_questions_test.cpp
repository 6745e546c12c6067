// What the takeovers of many partitions ask the brokers, when one of them gets no answer.
#include "runtime/takeover/takeover_questions.h"

#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "changelog/restorer.h"
#include "runtime/takeover/parking.h"
#include "runtime/takeover/takeover.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Call;
using simulation::Fault;
using test::good;

constexpr std::int32_t kMany = 64;
constexpr Partition kStuck{37};

class ManyTakeovers : public SimulatedApplication {
 protected:
  ManyTakeovers() : SimulatedApplication(kMany) {
    consumer = good(kafka->consumer(application.topics.of(Role::kRequests)));
    reader = good(kafka->log_reader());
    restorer = std::make_unique<changelog::Restorer>(*reader, application.topics.of(Role::kChangelog),
                                                     changelog::MemoryLimit{1'000, 1'000'000});
    for (std::int32_t p = 0; p < kMany; ++p) {
      takeovers.push_back(&all.emplace_back(application, clock, shelf, Partition(p)).takeover);
      takeovers.back()->step(*restorer);
    }
  }

  // A transaction of another process that has sent offsets of this partition, and written to its changelog before.
  void open_transaction(Partition partition, bool writes_to_changelog) {
    other = good(kafka->producer());
    good(other->init(simulation::kLimit));
    good(other->begin());
    if (writes_to_changelog)
      good(other->produce({.topic = application.topics.of(Role::kChangelog), .partition = partition, .key = "k"}));
    const kafka::TopicPartitionOffset next{{application.topics.of(Role::kRequests), partition}, Offset(1)};
    good(other->send_offsets({&next, 1}, *group(), simulation::kLimit));
  }
  std::shared_ptr<const kafka::GroupMetadata> group() {
    for (int i = 0; i < 100; ++i) {
      auto polled = good(consumer->poll(simulation::kLimit));
      if (auto* assigned = std::get_if<kafka::Assigned>(&polled)) return assigned->group;
    }
    return nullptr;
  }
  [[nodiscard]] int waiting() const {
    int count = 0;
    for (const Takeover* takeover : takeovers) count += takeover->phase() == Phase::kOffsets ? 1 : 0;
    return count;
  }
  void ask() { questions.ask(takeovers, *consumer, *restorer); }

  struct One {
    One(const Application& application, const Clock& clock, Shelf& shelf, Partition partition)
        : parking(clock, partition), takeover(application, clock, shelf, parking, partition) {}
    Parking parking;
    Takeover takeover;
  };
  std::deque<One> all;
  std::vector<Takeover*> takeovers;
  TakeoverQuestions questions{application, clock};
  std::unique_ptr<kafka::Consumer> consumer;
  std::unique_ptr<kafka::LogReader> reader;
  std::unique_ptr<changelog::Restorer> restorer;
  std::unique_ptr<kafka::Producer> other;
};

TEST_F(ManyTakeovers, AreAskedForTogether) {
  ASSERT_EQ(waiting(), kMany);
  ask();
  EXPECT_EQ(waiting(), 0);
}

TEST_F(ManyTakeovers, DoNotWaitForTheOneWithAnOpenTransaction) {
  open_transaction(kStuck, true);
  ask();
  EXPECT_EQ(waiting(), 1);
  EXPECT_EQ(takeovers[static_cast<std::size_t>(kStuck.value())]->phase(), Phase::kOffsets);
  ask();  // for the ends of the others
  const std::uint64_t asked = broker.faults().calls(Call::kOffsets);
  for (int i = 0; i < 50; ++i) ask();
  EXPECT_EQ(broker.faults().calls(Call::kOffsets), asked) << "it is looked at again, but not at once";
  for (int i = 0; i < 50; ++i) {
    time.advance(Milliseconds(10));
    ask();
  }
  EXPECT_LE(broker.faults().calls(Call::kOffsets), asked + 5 * 3) << "three calls every 100 ms";
  EXPECT_EQ(broker.counters().unstable_answers, 1U) << "each costs the worker half a second";
}

// Half of them, then the other half, then half of the first half.
TEST_F(ManyTakeovers, GoOnWithoutTheOneWhoseOffsetsStayUnstable) {
  open_transaction(kStuck, false);
  int rounds = 0;
  for (; waiting() > 1 && rounds < 100; ++rounds) ask();
  EXPECT_EQ(waiting(), 1);
  EXPECT_EQ(takeovers[static_cast<std::size_t>(kStuck.value())]->phase(), Phase::kOffsets);
  EXPECT_LE(rounds, 16);
  const std::uint64_t unstable = broker.counters().unstable_answers;
  for (int i = 0; i < 10; ++i) ask();
  EXPECT_LE(broker.counters().unstable_answers, unstable + 6) << "each costs the worker half a second";
}

TEST_F(ManyTakeovers, AreAskedForTogetherAgainAfterATrouble) {
  for (int i = 0; i < 3; ++i) {
    broker.faults().order(Call::kOffsets, Fault::kRetriable);
    ask();
  }
  EXPECT_EQ(waiting(), kMany);
  for (int i = 0; i < 4; ++i) ask();
  EXPECT_EQ(waiting(), 0) << "8, 16, 32 and the rest";
}

}  // namespace
}  // namespace reseq::runtime
