// What a worker holds of its inputs and of its rows: each setting that bounds it must be obeyed.
#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "runtime/worker.h"
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

TEST_F(FullDiskForMinutes, HoldsAPartitionWhoseBytesAreFourTimesTheLimit) {
  constexpr std::int64_t kBytes = 100'000;
  application.settings.checkpoint_bytes_max = kBytes;
  const std::uint64_t bytes = most(kLongId, [this] { return task().store().dirty_bytes(); });
  EXPECT_GE(bytes, 4U * kBytes);
  EXPECT_LE(bytes, 4 * kBytes + kBatchRecords * (2 * kLongId + 1'000)) << "and one batch";
}

}  // namespace
}  // namespace reseq::runtime
