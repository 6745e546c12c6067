// A gate in front of `work`, in a worker on a simulated Kafka: what it holds leaves when it is due, as it came.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "gated.h"
#include "tests/gate/window_gate.h"

namespace reseq::runtime {
namespace {

using simulation::StoredRecord;
using test::good;

constexpr Milliseconds kWindow{1'000};

class GateTest : public Gated<1> {
 protected:
  GateTest() : Gated(gate) { start(); }

  const PartitionTask& task() { return *worker->tasks().front(); }
  std::uint64_t count(Count which) { return task().store().summary().counts[which]; }
  void operate(const std::string& operation) {
    append("control", "",
           {{"reseq-control", operation}, {"reseq-control-id", operation}, {"reseq-control-partition", "0"}}, "{}");
  }
  std::vector<StoredRecord> work() { return records("work"); }
  // Until so many records of `work` are there, or two windows are over.
  void wait_for_work(std::size_t number) {
    const std::int64_t until = clock.now().value() + 2 * kWindow.value();
    while (work().size() < number && clock.now().value() < until) step();
  }
  void hold_one() {
    append("requests", "a", {{"reseq-seq", "1"}, {"trace", "7"}, {"empty", std::nullopt}}, "{}");
    for (int i = 0; i < 1'000 && count(Count::kHeldRecords) == 0; ++i) step();
    ASSERT_EQ(count(Count::kHeldRecords), 1U);
  }

  gate::WindowGate gate{{.window = kWindow, .every = 1, .drained_max = 2, .partitions = 1}};
};

TEST_F(GateTest, LetsThroughWhatItHeldAsItCame) {
  hold_one();
  EXPECT_TRUE(work().empty()) << "it left before its window was over";
  EXPECT_GT(count(Count::kHeldBytes), 0U);
  wait_for_work(1);
  ASSERT_EQ(work().size(), 1U);
  const StoredRecord left = work().front();
  EXPECT_EQ(left.key, "a");
  EXPECT_EQ(left.payload, "{}");
  const auto has = [&](const std::string& name, const std::optional<std::string>& value) {
    return std::count_if(left.headers.begin(), left.headers.end(),
                         [&](const auto& header) { return header.name == name && header.value == value; });
  };
  EXPECT_EQ(has("reseq-seq", "1"), 1);
  EXPECT_EQ(has("trace", "7"), 1);
  EXPECT_EQ(has("empty", std::nullopt), 1);
  for (const std::int64_t until = clock.now().value() + 2 * kWindow.value(); clock.now().value() < until;) step();
  EXPECT_EQ(work().size(), 1U) << "it left twice";
  for (const Count which : {Count::kHeldRecords, Count::kHeldPieces, Count::kHeldBytes, Count::kTasks})
    EXPECT_EQ(count(which), 0U) << "a row of it is left";
}

TEST_F(GateTest, LetsThroughWhatAnotherProcessHeld) {
  hold_one();
  worker.reset();  // killed
  start();
  ASSERT_EQ(count(Count::kHeldRecords), 1U);
  wait_for_work(1);
  EXPECT_EQ(work().size(), 1U);
}

// What stands behind an open transaction cannot be read yet, but it may be in the log since before the time came.
TEST_F(GateTest, WaitsForATransactionThatIsOpenInAnInput) {
  hold_one();
  simulation::ClientSettings clients = settings("somebody");
  clients.topics = application.topics.names();
  auto somebody = good(simulation::SimulatedCluster(broker, process, clients).producer());
  for (int i = 0; i < 100 && !somebody->init(simulation::kLimit); ++i) ticks(1);
  good(somebody->begin());
  const std::vector<Header> headers = {{"reseq-seq", "2"}};
  kafka::OutgoingRecord record{
      .topic = application.topics.of(Role::kRequests), .partition = Partition(0), .key = "b", .payload = "{}"};
  record.headers = headers;
  good(somebody->produce(record));
  good(somebody->flush(simulation::kLimit));
  const std::int64_t until = clock.now().value() + 2 * kWindow.value();
  while (clock.now().value() < until) step();
  EXPECT_EQ(count(Count::kTasks), 0U) << "a window was opened ahead of an input";
  EXPECT_TRUE(work().empty());
  good(somebody->commit(simulation::kLimit));
  wait_for_work(1);
  EXPECT_FALSE(work().empty());
}

TEST_F(GateTest, OfAPausedPartitionLetsNothingThrough) {
  hold_one();
  operate("pause");
  for (int i = 0; i < 1'000 && !task().paused(); ++i) step();
  ASSERT_TRUE(task().paused());
  const std::int64_t until = clock.now().value() + 3 * kWindow.value();
  while (clock.now().value() < until) step();
  EXPECT_TRUE(work().empty());
  operate("resume");
  wait_for_work(1);
  EXPECT_EQ(work().size(), 1U);
}

// An older version, or one that lacks what the state was written with, would lose what waits.
TEST_F(GateTest, KeepsAStateFromAVersionWithoutIt) {
  hold_one();
  worker.reset();
  Application older(configured);
  older.guards = application.guards;
  good(older.ask(*kafka, simulation::kLimit));
  Worker without(older, *kafka, clock, shelf, [] { return HashKey{}; });
  Result<> stepped = Done{};
  for (int i = 0; i < 10'000 && stepped; ++i) {
    stepped = without.step();
    ticks(1);
  }
  ASSERT_FALSE(stepped) << "it goes on without what it does not know";
  EXPECT_NE(stepped.error().message.find("capability 63"), std::string::npos) << stepped.error().message;
}

}  // namespace
}  // namespace reseq::runtime
