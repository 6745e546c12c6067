// Trouble with a partition while another one of the same transaction has been produced already: its copy on disk cannot
// be read, or is slow.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "codec/hash.h"
#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Fate;
using simulation::Log;
using test::good;

constexpr std::int32_t kPartitions = 2;

class WorkerFault : public SimulatedApplication {
 protected:
  explicit WorkerFault(config::Settings from = of_one_target()) : SimulatedApplication(kPartitions, std::move(from)) {
    application.settings.checkpoint_rows_max = 1;  // every row lies on disk at once
    while (worker.tasks().size() != kPartitions || !all_running()) step();
  }

  void step() {
    good(worker.step());
    ticks(1);
  }
  bool all_running() {
    return std::all_of(worker.tasks().begin(), worker.tasks().end(),
                       [](const auto& task) { return task->phase() == Phase::kRunning; });
  }
  Log& log(const std::string& topic, Partition partition) {
    return broker.log({*broker.topic("app." + topic), partition});
  }
  static std::string id_in(Partition partition) {
    std::string id;
    for (int i = 0; id.empty() || codec::partition_of(id, Partitioner::kMurmur2, kPartitions) != partition; ++i)
      id = "document-" + std::to_string(i);
    return id;
  }
  void request_in_each(std::uint64_t sequence) {
    for (const auto& task : worker.tasks())
      broker.append({*broker.topic("app.requests"), task->partition()},
                    {id_in(task->partition()), "{}", {{"reseq-seq", std::to_string(sequence)}}, broker.now()});
  }
  void decide(std::uint64_t inputs) {
    for (int i = 0; i < 10'000 && worker.totals().inputs != inputs; ++i) step();
    ASSERT_EQ(worker.totals().inputs, inputs);
  }
  // It has only just looked at all rows, and begins again in a second.
  void rest_of_the_survey(Partition partition) {
    const auto& survey = worker.tasks()[static_cast<std::size_t>(partition.value())]->survey();
    const UnixMs from = clock.now();
    while (!survey.found() || survey.found()->at < from) step();
  }
  // Another byte in what follows the id, wherever it stands: the row does not fit its checksum any more.
  void damage(Partition partition) {
    const auto& store = worker.tasks()[static_cast<std::size_t>(partition.value())]->store();
    const std::string path = store.folder() + "/data.mdb";
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const std::string id = id_in(partition);
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    int damaged = 0;
    for (std::size_t at = bytes.find(id); at != std::string::npos; at = bytes.find(id, at + 1)) {
      const std::size_t behind = at + id.size() + 8;
      out.seekp(static_cast<std::streamoff>(behind));
      out.put(static_cast<char>(bytes.at(behind) ^ 1));
      ++damaged;
    }
    ASSERT_TRUE(out.flush());
    ASSERT_GT(damaged, 0);
  }
  static std::ptrdiff_t aborts(const Log& log) {
    return std::count_if(log.entries().begin(), log.entries().end(),
                         [](const auto& entry) { return !entry.record && entry.fate == Fate::kAborted; });
  }

  Worker worker{application, *kafka, clock, shelf, [] { return HashKey{}; }};
};

TEST_F(WorkerFault, AbortsWhatIsProducedAndDecidesItAgain) {
  request_in_each(1);
  decide(2);
  const auto in_memory = [](const auto& task) { return task->store().dirty_rows() > 0; };
  for (int i = 0; i < 100 && std::any_of(worker.tasks().begin(), worker.tasks().end(), in_memory); ++i) step();
  rest_of_the_survey(Partition(1));
  damage(Partition(1));

  request_in_each(2);
  decide(4);
  ticks(100);
  EXPECT_EQ(worker.totals().rebuilds[static_cast<std::size_t>(Rebuild::kFault)], 1U);
  EXPECT_EQ(aborts(log("work", Partition(0))), 1) << "it was produced before the fault was found";
  EXPECT_EQ(aborts(log("work", Partition(1))), 0);
  for (const Partition partition : {Partition(0), Partition(1)}) {
    std::size_t committed = 0;
    const Log& work = log("work", partition);
    for (const auto* entry = work.next_committed(Offset(0)); entry != nullptr;
         entry = work.next_committed(Offset(entry->offset.value() + 1)))
      ++committed;
    EXPECT_EQ(committed, 2U) << partition.value();
  }
}

TEST_F(WorkerFault, LeavesToTheNextTransactionWhatTheTimeIsTooShortFor) {
  request_in_each(1);
  while (worker.transaction() == nullptr || worker.transaction()->next() != Step::kProduce) step();
  ticks(static_cast<int>(application.settings.transaction_timeout_ms / 4) + 1, 1);
  good(worker.step());
  ASSERT_NE(worker.transaction(), nullptr);
  EXPECT_EQ(worker.transaction()->next(), Step::kFlush);
  const std::uint64_t before = worker.totals().transactions;
  decide(2);
  EXPECT_EQ(worker.totals().transactions, before + 2);
  EXPECT_EQ(worker.totals().aborted, 0U);
}

class WorkerFaultOfLanes : public WorkerFault {
 protected:
  WorkerFaultOfLanes() : WorkerFault(with_audit()) {}
  static config::Settings with_audit() {
    config::Settings settings = of_one_target();
    settings.targets.push_back({.name = "audit", .order = "total"});
    return settings;
  }
};

TEST_F(WorkerFaultOfLanes, ForgetsWhatWasFoundInTheState) {
  request_in_each(1);
  decide(2);
  const PartitionTask& task = *worker.tasks()[1];
  for (int i = 0; i < 10'000 && (!task.lane_survey().found() || task.store().dirty_rows() > 0); ++i) step();
  ASSERT_TRUE(task.lane_survey().found());
  rest_of_the_survey(Partition(1));
  damage(Partition(1));
  request_in_each(2);
  for (int i = 0; i < 10'000 && task.phase() == Phase::kRunning; ++i) step();
  ASSERT_NE(task.phase(), Phase::kRunning) << "its state is read anew";
  EXPECT_FALSE(task.survey().found());
  EXPECT_FALSE(task.lane_survey().found());
}

}  // namespace
}  // namespace reseq::runtime
