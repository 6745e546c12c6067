// One partition has a record that the brokers refuse, so each transaction with it is aborted: the others of its worker
// must go on as if nothing was.
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "codec/hash.h"
#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using test::good;

constexpr std::int32_t kNeighbours = 31;
constexpr std::int64_t kEveryMs = 100;  // each of them gets a request
constexpr Partition kPoisoned{0};

class Poison : public SimulatedApplication {
 protected:
  Poison() : SimulatedApplication(kNeighbours + 1) {
    application.delete_retention = Milliseconds(604'800'000);  // no heartbeats
    for (int p = 0; p <= kNeighbours; ++p) ids_.push_back(id_in(Partition(p)));
    while (worker.tasks().size() != ids_.size() || !all_run()) step();
  }

  void step() {
    good(worker.step());
    ticks(1, 1);
    if (broker.now() < next_) return;
    next_ = UnixMs(broker.now().value() + kEveryMs);
    ++sent_;
    for (int p = 1; p <= kNeighbours; ++p) request(Partition(p), 10);
  }
  void run(std::int64_t ms) {
    for (const UnixMs until(broker.now().value() + ms); broker.now() < until;) step();
  }
  void request(Partition partition, std::size_t payload) {
    broker.append({*broker.topic("app.requests"), partition}, {ids_[static_cast<std::size_t>(partition.value())],
                                                               std::string(payload, 'x'),
                                                               {{"reseq-seq", std::to_string(++sequence_)}},
                                                               broker.now()});
  }
  // The topic takes less than the worker was told when it began.
  void poison() {
    broker.facts(*broker.topic("app.work")).max_message_bytes = 5'000;
    request(kPoisoned, 10'000);
  }
  [[nodiscard]] bool all_run() const {
    return std::all_of(worker.tasks().begin(), worker.tasks().end(),
                       [](const auto& task) { return task->phase() == Phase::kRunning; });
  }
  [[nodiscard]] const PartitionTask& poisoned() const { return *worker.tasks().front(); }
  static std::string id_in(Partition partition) {
    std::string id;
    for (int i = 0; id.empty() || codec::partition_of(id, Partitioner::kMurmur2, kNeighbours + 1) != partition; ++i)
      id = "document-" + std::to_string(i);
    return id;
  }

  Worker worker{application, *kafka, clock, shelf, [] { return HashKey{}; }};
  std::uint64_t sent_ = 0;  // to each neighbour

 private:
  std::vector<std::string> ids_;
  std::uint64_t sequence_ = 0;
  UnixMs next_;
};

TEST_F(Poison, OfOnePartitionHoldsUpNoOther) {
  run(5'000);
  poison();
  run(10'000);
  const std::uint64_t inputs = worker.totals().inputs;
  const std::uint64_t sent = sent_;
  run(20'000);
  EXPECT_GE(worker.totals().inputs - inputs, (sent_ - sent) * kNeighbours * 95 / 100);
}

// Full batches hold a few partitions each, so those without the poisoned one commit in between.
TEST_F(Poison, IsFoundWhileItsNeighboursCatchUp) {
  application.settings.batch_records_max = 100;
  for (int i = 0; i < 600; ++i)
    for (int p = 1; p <= kNeighbours; ++p) request(Partition(p), 10);
  poison();
  run(60'000);
  EXPECT_EQ(poisoned().phase(), Phase::kParked);
}

TEST_F(Poison, ParksItsPartitionAfterFiveAbortsOfItsOwn) {
  run(1'000);
  poison();
  run(15'000);
  EXPECT_EQ(poisoned().phase(), Phase::kParked);
  EXPECT_EQ(worker.totals().aborted, 3U + 5U) << "three that it shared, five of its own";
}

TEST_F(Poison, ThatIsTakenAwayLetsItsPartitionShareAgain) {
  run(1'000);
  poison();
  for (int i = 0; i < 10'000 && !poisoned().isolation().alone(); ++i) step();
  ASSERT_TRUE(poisoned().isolation().alone());
  broker.facts(*broker.topic("app.work")).max_message_bytes = 1'000'000;
  run(5'000);
  EXPECT_EQ(poisoned().phase(), Phase::kRunning);
  const auto alone = [](const auto& task) { return task->isolation().alone(); };
  EXPECT_EQ(std::count_if(worker.tasks().begin(), worker.tasks().end(), alone), 0);
  const std::uint64_t transactions = worker.totals().transactions;
  const std::uint64_t sent = sent_;
  run(5'000);
  EXPECT_LE(worker.totals().transactions - transactions, 3 * (sent_ - sent)) << "they share transactions again";
}

}  // namespace
}  // namespace reseq::runtime
