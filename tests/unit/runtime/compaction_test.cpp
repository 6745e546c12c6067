// A worker whose copies are written anew as soon as anything of their files is free.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "runtime/desk/metrics_text.h"
#include "runtime/worker/worker.h"
#include "simulated_application.h"
#include "tests/support/log_lines.h"

namespace reseq::runtime {
namespace {

using test::good;
using testing::HasSubstr;

constexpr store::DiskSettings kAnySize = {.compaction = {.file_bytes_min = 1, .times_used = 1, .step_bytes = 100}};
constexpr std::int64_t kTenMinutes = 600'000;

class WorkerCompacts : public SimulatedApplication {
 protected:
  WorkerCompacts() {
    application.settings.checkpoint_interval_ms = 1'000;
    while (worker.tasks().empty() || worker.tasks().front()->phase() != Phase::kRunning) step();
  }
  void step(std::int64_t ms = 1) {
    good(worker.step());
    ticks(1, ms);
  }
  // Each with a request, so that there is a checkpoint to write.
  void seconds(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string id = "document-" + std::to_string(next_++);
      broker.append({*broker.topic("app.requests"), Partition(0)}, {id, "{}", {{"reseq-seq", "1"}}, broker.now()});
      for (int ms = 0; ms < 1'000; ms += 20) step(20);
    }
  }
  [[nodiscard]] std::string metrics() const {
    Board board(1);
    board.publish(worker.report());
    return metrics_text(application, board.look(), clock.steady());
  }
  [[nodiscard]] const store::PartitionStore& store() const { return worker.tasks().front()->store(); }

  test::TempDir disk;
  Shelf states{disk.path(), "boot", kAnySize};
  Worker worker{application, *kafka, clock, states, [] { return HashKey{}; }};
  int next_ = 0;
};

TEST_F(WorkerCompacts, OneCopyAtACheckpointAndTells) {
  const test::LogLines log;
  seconds(20);
  EXPECT_EQ(worker.totals().compactions, 1U) << "it is left in peace for ten minutes";
  EXPECT_EQ(worker.totals().compactions_failed, 0U);
  EXPECT_EQ(log.count("partition=0 compaction=done bytes_before="), 1) << log.text();
  EXPECT_FALSE(store().compacting());
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr("reseq_compactions_total 1\n"));
  EXPECT_THAT(text, HasSubstr("reseq_compactions_failed_total 0\n"));
  EXPECT_THAT(text, testing::ContainsRegex("reseq_compaction_step_seconds_count [1-9]"));
  EXPECT_EQ(worker.totals().inputs, 20U);
  ticks(1, kTenMinutes);
  seconds(20);
  EXPECT_EQ(worker.totals().compactions, 2U);
  EXPECT_EQ(store().rows(), 42U) << "identity, target table and documents";
}

TEST_F(WorkerCompacts, NotAtOnceAgainWhenTheDiskRefuses) {
  const std::filesystem::path in_the_way = store().folder() + "/data.mdb.new";
  std::filesystem::create_directory(in_the_way);
  const test::LogLines log;
  seconds(20);
  EXPECT_EQ(worker.totals().compactions_failed, 1U);
  EXPECT_EQ(log.count("partition=0 compaction=failed folder="), 1) << log.text();
  EXPECT_GT(worker.totals().checkpoints, 10U);
  EXPECT_EQ(worker.totals().inputs, 20U);
  EXPECT_THAT(metrics(), HasSubstr("reseq_compactions_failed_total 1\n"));
  std::filesystem::remove(in_the_way);
  seconds(20);
  EXPECT_EQ(worker.totals().compactions, 0U);
  ticks(1, kTenMinutes);
  seconds(20);
  EXPECT_EQ(worker.totals().compactions, 1U);
}

// It would lie on the shelf with the state, for ever perhaps.
TEST_F(WorkerCompacts, LeavesNoNewFileOnTheShelf) {
  for (int i = 0; i < 10'000 && !store().compacting(); ++i) {
    if (i % 50 == 0)
      broker.append({*broker.topic("app.requests"), Partition(0)},
                    {"document", "{}", {{"reseq-seq", std::to_string(i)}}, broker.now()});
    step(20);
  }
  ASSERT_TRUE(store().compacting());
  const std::string copy = store().folder();
  EXPECT_TRUE(std::filesystem::exists(copy + "/data.mdb.new"));
  worker.close(Milliseconds(1'000));
  EXPECT_FALSE(std::filesystem::exists(copy + "/data.mdb.new"));
  EXPECT_TRUE(states.close_clean());
}

}  // namespace
}  // namespace reseq::runtime
