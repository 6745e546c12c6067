// What a worker holds of its inputs and of its rows: each setting that bounds it must be obeyed.
#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using test::good;

constexpr std::size_t kLongId = 4'000;  // of a row that is nearly nothing else
constexpr Milliseconds kWeekOfDeletes{604'800'000};

class Bounds : public SimulatedApplication {
 protected:
  Bounds() {
    application.delete_retention = kWeekOfDeletes;  // no heartbeats
    application.settings.checkpoint_interval_ms = 3'600'000;
  }

  void begin() {
    worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 1'000 && !running(); ++i) step();
    ASSERT_TRUE(running());
    settle();
    decided = worker->totals().inputs;
  }
  void step(std::int64_t ms = 1) {
    good(worker->step());
    ticks(1, ms);
  }
  // The first checkpoint is due at once.
  void settle() {
    for (int i = 0; i < 100; ++i) step();
  }
  [[nodiscard]] bool running() const { return worker->tasks().size() == 1 && task().phase() == Phase::kRunning; }
  [[nodiscard]] PartitionTask& task() const { return *worker->tasks().front(); }
  [[nodiscard]] std::uint64_t done() const { return worker->totals().inputs - decided; }

  void append(const std::string& topic, std::string id, std::string payload,
              const std::vector<std::pair<std::string, std::string>>& headers) {
    simulation::StoredRecord record{std::move(id), std::move(payload), {}, broker.now()};
    for (const auto& [name, value] : headers) record.headers.push_back({name, value});
    broker.append({*broker.topic("app." + topic), Partition(0)}, record);
  }
  void request(const std::string& id, std::size_t payload = 2) {
    append("requests", id, std::string(payload, 'x'), {{"reseq-seq", "1"}});
  }
  // Ids of that length, all different.
  static std::string id(int number, std::size_t length = 0) {
    std::string made = "document-" + std::to_string(number);
    if (made.size() < length) made.append(length - made.size(), '.');
    return made;
  }

  // Another host gets the partition, which has no copy of its state.
  void take_over_elsewhere() {
    worker.reset();
    worker = std::make_unique<Worker>(application, *kafka, clock, elsewhere, [] { return HashKey{}; });
  }

  test::TempDir other_folder;
  Shelf elsewhere{other_folder.path(), "boot", {}};
  std::unique_ptr<Worker> worker;
  std::uint64_t decided = 0;
};

TEST_F(Bounds, OfABatchInBytes) {
  constexpr int kRequests = 300;
  constexpr std::size_t kPayload = 10'000;
  application.settings.batch_bytes_max = 100'000;
  begin();
  const std::uint64_t before = worker->totals().transactions;
  for (int i = 0; i < kRequests; ++i) request(id(i), kPayload);
  for (int i = 0; i < 10'000 && done() < kRequests; ++i) step();
  ASSERT_EQ(done(), kRequests);
  EXPECT_GE(worker->totals().transactions - before, kRequests * kPayload / 100'000);
}

// Commands that met no registration wait until requests are read to their end, and more arrive meanwhile.
TEST_F(Bounds, OfCommandsThatWaitForRequests) {
  constexpr int kDocuments = 1'000;
  constexpr std::size_t kPayload = 1'000;
  constexpr std::uint64_t kBatch = 40'000;
  application.settings.batch_bytes_max = kBatch;
  begin();
  for (int i = 0; i < kDocuments; ++i) request(id(i), kPayload);
  for (int i = kDocuments; i-- > 0;)
    append("commands", id(i), std::string(kPayload, 'y'),
           {{"reseq-command", "sequence"}, {"reseq-seq", "1"}, {"reseq-target", "search"}});
  std::uint64_t most = 0;
  for (int i = 0; i < 20'000 && done() < 2 * kDocuments; ++i) {
    step();
    most = std::max(most, task().queue().bytes(Role::kCommands));
  }
  ASSERT_EQ(done(), 2U * kDocuments);
  EXPECT_GT(most, kBatch / 4) << "none ever waited";
  EXPECT_LE(most, kBatch / 4 + kBatch + 2 * 2 * kPayload) << "a quarter, what one more step reads, and their last";
}

TEST_F(Bounds, OfRowsThatAreNotOnDiskInBytes) {
  constexpr int kRequests = 500;
  application.settings.checkpoint_bytes_max = 100'000;
  application.settings.batch_records_max = 10;
  begin();
  const std::uint64_t before = worker->totals().checkpoints;
  std::uint64_t most = 0;
  for (int i = 0; i < kRequests; ++i) request(id(i, kLongId));
  for (int i = 0; i < 10'000 && done() < kRequests; ++i) {
    step();
    most = std::max(most, task().store().dirty_bytes());
  }
  ASSERT_EQ(done(), kRequests);
  EXPECT_GE(worker->totals().checkpoints - before, kRequests * kLongId / 200'000);
  EXPECT_LE(most, 200'000U);
}

// No write gets through; a file may not become larger than this. Ends with its scope.
class FullDisk {
 public:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{1, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

class FullDiskForMinutes : public Bounds {
 protected:
  static constexpr int kDocuments = 2'000;
  static constexpr int kBatchRecords = 10;

  // The most that `held` was while the disk was full, for ten minutes, and all of the time.
  template <typename Held>
  std::uint64_t most(std::size_t id_length, Held held) {
    application.settings.batch_records_max = kBatchRecords;
    begin();
    for (int i = 0; i < kDocuments; ++i) request(id(i, id_length));
    std::uint64_t most = 0;
    {
      const FullDisk full;
      for (int i = 0; i < 6'000; ++i) {
        step(100);
        most = std::max<std::uint64_t>(most, held());
      }
    }
    EXPECT_GT(worker->totals().checkpoints_failed, 0U);
    EXPECT_LT(done(), kDocuments) << "it was not held";
    const std::uint64_t before = done();
    for (int i = 0; i < 20'000 && done() < kDocuments; ++i) step(10);
    EXPECT_EQ(done(), kDocuments) << "after " << before << " with a full disk";
    return most;
  }
};

TEST_F(FullDiskForMinutes, HoldsAPartitionWhoseRowsAreFourTimesTheLimit) {
  constexpr std::int64_t kRows = 50;
  application.settings.checkpoint_rows_max = kRows;
  const std::uint64_t rows = most(0, [this] { return task().store().dirty_rows(); });
  EXPECT_GE(rows, 4 * kRows);
  EXPECT_LE(rows, 4 * kRows + kBatchRecords + 2) << "and one batch, with the rows of the partition";
}

TEST_F(FullDiskForMinutes, HoldsAPartitionWhoseBytesAreEightTimesTheLimit) {
  constexpr std::int64_t kBytes = 100'000;
  application.settings.checkpoint_bytes_max = kBytes;
  const std::uint64_t bytes = most(kLongId, [this] { return task().store().dirty_bytes(); });
  EXPECT_GE(bytes, 8U * kBytes);
  EXPECT_LE(bytes, 8 * kBytes + kBatchRecords * (2 * kLongId + 1'000)) << "and one batch";
}

// Of a state that is read from its changelog, on a host that has no copy of it.
class BoundsOfARestore : public Bounds {
 protected:
  static constexpr int kDocuments = 2'000;
  static constexpr std::uint64_t kRows = 50;
  static constexpr std::uint64_t kOfAPartition = 2;  // rows beside those of documents

  // As many documents to a transaction.
  void write_changelog(int batch_records) {
    application.settings.batch_records_max = batch_records;
    begin();
    for (int i = 0; i < kDocuments; ++i) request(id(i));
    const std::uint64_t before = worker->totals().transactions;
    for (int i = 0; i < 20'000 && done() < kDocuments; ++i) step(10);
    ASSERT_EQ(done(), kDocuments);
    ASSERT_LE(worker->totals().transactions - before, 2U * kDocuments / static_cast<std::uint64_t>(batch_records));
    application.settings.checkpoint_rows_max = kRows;
    take_over_elsewhere();
  }
  void begin_restore() {
    const auto restores = [this] { return worker->tasks().size() == 1 && task().phase() == Phase::kRestore; };
    for (int i = 0; i < 1'000 && !restores(); ++i) step();
    ASSERT_TRUE(restores());
  }
  [[nodiscard]] std::uint64_t rows_in_memory() const { return task().store().dirty_rows(); }
  // The most of them until it runs.
  std::uint64_t restore() {
    std::uint64_t most = 0;
    for (int i = 0; i < 20'000 && !running(); ++i) {
      step(10);
      if (worker->tasks().size() == 1 && task().has_store()) most = std::max(most, rows_in_memory());
    }
    return most;
  }
  void expect_serves() {
    ASSERT_TRUE(running());
    EXPECT_EQ(task().store().summary().counts[Count::kLiveRows], static_cast<std::uint64_t>(kDocuments));
    decided = worker->totals().inputs;
    request("behind all");
    for (int i = 0; i < 1'000 && done() < 1; ++i) step();
    EXPECT_EQ(done(), 1U);
  }
};

TEST_F(BoundsOfARestore, OnAFullDiskAreFourTimesTheRowsAndItGoesOnWhenThereIsRoom) {
  write_changelog(10);
  begin_restore();
  std::uint64_t most = 0;
  {
    const FullDisk full;
    for (int i = 0; i < 6'000; ++i) {
      step(100);
      most = std::max(most, rows_in_memory());
    }
    EXPECT_EQ(task().phase(), Phase::kRestore);
    const WorkerReport report = worker->report();
    ASSERT_EQ(report.partitions.size(), 1U);
    EXPECT_NE(report.partitions.front().checkpoint_error, "") << "nobody is told";
  }
  EXPECT_GE(worker->totals().checkpoints_failed, 30U) << "it is not tried again";
  EXPECT_LE(worker->totals().checkpoints_failed, 70U) << "it is tried all of the time";
  EXPECT_GE(most, 4 * kRows);
  EXPECT_LE(most, 4 * kRows + kOfAPartition);
  EXPECT_LE(restore(), 4 * kRows + kOfAPartition);
  expect_serves();
  EXPECT_EQ(worker->report().partitions.front().checkpoint_error, "");
}

TEST_F(BoundsOfARestore, OfATransactionOfMoreRowsAreFourTimesTheRows) {
  write_changelog(kDocuments / 2);
  begin_restore();
  const std::uint64_t most = restore();
  EXPECT_GE(most, 4 * kRows) << "it does not try to get to the end of a transaction";
  EXPECT_LE(most, 4 * kRows + kOfAPartition);
  expect_serves();
}

// Then there is not even an empty copy.
TEST_F(BoundsOfARestore, ThatFindsAFullDiskWaitsForRoom) {
  write_changelog(10);
  {
    const FullDisk full;
    for (int i = 0; i < 600; ++i) step(100);
    ASSERT_EQ(worker->tasks().size(), 1U);
    EXPECT_EQ(task().phase(), Phase::kOpen);
  }
  EXPECT_LE(restore(), 4 * kRows + kOfAPartition);
  expect_serves();
}

// A checkpoint inside of a transaction is worth something for as long as its process lives.
TEST_F(BoundsOfARestore, OfATransactionOfMoreRowsHoldOnAFullDisk) {
  write_changelog(kDocuments);
  begin_restore();
  std::uint64_t most = 0;
  {
    const FullDisk full;
    for (int i = 0; i < 1'000; ++i) {
      step(100);
      most = std::max(most, rows_in_memory());
    }
  }
  EXPECT_GT(worker->totals().checkpoints_failed, 0U);
  EXPECT_LE(most, 4 * kRows + kOfAPartition);
  EXPECT_LE(restore(), 4 * kRows + kOfAPartition);
  expect_serves();
}

// What a batch has decided is all in memory, however much that is, and goes to disk before the next one.
TEST_F(Bounds, OfRowsThatAreNotOnDiskAreOneBatchThatHasMore) {
  constexpr int kBatch = 500;
  constexpr std::uint64_t kRows = 50;
  application.settings.checkpoint_rows_max = kRows;
  application.settings.batch_records_max = kBatch;
  begin();
  for (int i = 0; i < 6 * kBatch; ++i) request(id(i));
  std::uint64_t most = 0;
  for (int i = 0; i < 10'000 && done() < 6 * kBatch; ++i) {
    step();
    most = std::max<std::uint64_t>(most, task().store().dirty_rows());
  }
  ASSERT_EQ(done(), 6U * kBatch);
  EXPECT_GT(most, 4 * kRows) << "no batch was that large";
  EXPECT_LE(most, kRows + kBatch + 2) << "and the rows of the partition";
}

}  // namespace
}  // namespace reseq::runtime
