// A copy whose file is written anew, beside a twin with the same life whose file never is: both hold the same entries.
#include "store/compaction.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>

#include "base/failpoint.h"
#include "rows.h"

namespace reseq::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kMany = 6'000;
constexpr int kLeft = 600;
constexpr DiskSettings kNever = {.map_bytes = 1U << 20, .compaction = {.file_bytes_min = UINT64_MAX}};
// So small a file is written anew, in several steps.
constexpr DiskSettings kSmall = {.map_bytes = 1U << 20,
                                 .compaction = {.file_bytes_min = 256U << 10, .step_bytes = 20'000}};
constexpr DiskSettings kOneStep = {.map_bytes = 1U << 20, .compaction = {.file_bytes_min = 256U << 10}};

std::string name_of_document(int i) {
  return "document-" + std::to_string(i);
}

// A row with a timer, and one with an entry of an index in addition.
Row row_of_document(int i, std::uint64_t sequence) {
  const Row row = live(sequence, 1'000 + i % 700);
  return i % 3 == 0 ? with_journal(row, {processing(sequence, 100, 5'000 + i % 90)}) : row;
}

using Dump = std::vector<std::tuple<Table, std::string, std::string>>;

// Everything in the tables of a copy that is closed.
Dump dump(const Place& place) {
  Dump all;
  const auto opened = Environment::open(place.folder(), {.map_bytes = 0, .read_only = true, .on_broken = {}});
  EXPECT_TRUE(opened.ok());
  if (!opened) return all;
  for (const Table table : {Table::kRows, Table::kTimers, Table::kCheckpoint}) {
    auto scan = opened.value()->scan(table, {});
    for (; scan.valid(); scan.next()) all.emplace_back(table, scan.key(), scan.value());
  }
  return all;
}

// Old files, and not LMDB's lock of a new one, which is small.
int open_files_without_a_name() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += fs::read_symlink(entry.path(), gone).string().ends_with("/data.mdb (deleted)") ? 1 : 0;
  }
  return count;
}

class Compacting : public testing::Test {
 protected:
  explicit Compacting(const DiskSettings& settings = kSmall)
      : store_(place_.must_open(settings)), twin_(twin_place_.must_open(kNever)) {
    both({identity_row(), targets_row(TargetTable({"search"})), meta_row(meta_of(3))}, true);
  }

  void both(const std::vector<Encoded>& rows, bool put) {
    std::vector<Change> changes;
    for (const Encoded& row : rows) changes.push_back(put ? row.put() : row.gone());
    commit(*store_, changes);
    commit(*twin_, changes);
  }
  void put(int i, std::uint64_t sequence) { both({document(name_of_document(i), row_of_document(i, sequence))}, true); }
  void remove(int i) { both({document(name_of_document(i), live(1))}, false); }
  void checkpoint() {
    const auto written = store_->write_checkpoint();
    ASSERT_TRUE(written.ok()) << written.error().message;
    ASSERT_TRUE(twin_->write_checkpoint().ok());
  }
  // A file that is nearly empty now. The last documents stay.
  void fill_and_empty() {
    for (int i = 0; i < kMany; ++i) put(i, 1);
    checkpoint();
    EXPECT_FALSE(store_->wants_compaction());
    for (int i = 0; i < kMany - kLeft; ++i) remove(i);
    checkpoint();
    ASSERT_TRUE(store_->wants_compaction());
  }
  // To its end.
  Compacted compact(const std::function<void()>& in_between = [] {}) {
    for (steps_ = 1;; ++steps_) {
      const auto compacted = store_->compact();
      EXPECT_TRUE(compacted.ok()) << compacted.error().message;
      if (!compacted) return {};
      EXPECT_EQ(store_->compacting(), !compacted.value().has_value());
      if (compacted.value()) return *compacted.value();
      in_between();
    }
  }
  [[nodiscard]] std::uintmax_t file_bytes() const { return fs::file_size(place_.file("data.mdb")); }
  [[nodiscard]] bool has_new_file() const {
    return fs::exists(place_.file("data.mdb.new")) || fs::exists(place_.file("data.mdb.new-lock"));
  }
  void close() {
    ASSERT_TRUE(store_->close_clean().ok());
    ASSERT_TRUE(twin_->close_clean().ok());
    store_.reset();
    twin_.reset();
  }
  // Closes both.
  void expect_the_same_as_the_twin() {
    EXPECT_EQ(store_->summary(), twin_->summary());
    EXPECT_EQ(store_->checkpointed(), twin_->checkpointed());
    close();
    EXPECT_FALSE(has_new_file());
    EXPECT_TRUE(dump(place_) == dump(twin_place_));
    const auto again = place_.must_open(kSmall);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->found(), StateFolder::Copy::kClean);
  }

  Place place_;
  Place twin_place_;
  std::unique_ptr<PartitionStore> store_;
  std::unique_ptr<PartitionStore> twin_;
  int steps_ = 0;
};

TEST_F(Compacting, MakesTheFileSmallAndLosesNothing) {
  fill_and_empty();
  const auto before = file_bytes();
  const Compacted compacted = compact();
  EXPECT_GT(steps_, 3);
  EXPECT_EQ(compacted.before, before);
  EXPECT_EQ(compacted.after, file_bytes());
  EXPECT_LT(compacted.after, before / 5);
  const auto size = store_->disk_size();
  ASSERT_TRUE(size);
  EXPECT_LT(size->free_bytes, size->file_bytes / 3) << "some pages of each step";
  EXPECT_FALSE(store_->wants_compaction());
  EXPECT_EQ(open_files_without_a_name(), 1);
  EXPECT_TRUE(store_->sync_handle()->sync().ok());
  EXPECT_EQ(open_files_without_a_name(), 0) << "the disk does not get its space back";
  EXPECT_EQ(find(*store_, name_of_document(kMany - 1)).row, row_of_document(kMany - 1, 1));
  EXPECT_FALSE(find(*store_, name_of_document(0)).row.has_value());
  EXPECT_EQ(store_->earliest_deadline(), twin_->earliest_deadline());
  EXPECT_EQ(index_of(*store_, codec::kLeaseIndex), index_of(*twin_, codec::kLeaseIndex));
  expect_the_same_as_the_twin();
}

TEST_F(Compacting, IsFollowedByCheckpointsAndByAnotherOne) {
  fill_and_empty();
  compact();
  for (int i = 0; i < kMany; ++i) put(i, 2);
  checkpoint();
  for (int i = 50; i < kMany; ++i) remove(i);
  checkpoint();
  ASSERT_TRUE(store_->wants_compaction());
  compact();
  put(7, 3);
  checkpoint();
  expect_the_same_as_the_twin();
}

TEST_F(Compacting, HasWhatCheckpointsWriteMeanwhile) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    fill_and_empty();
    compact([&] {
      for (int change = 0; change < 40; ++change) {
        const int i = kMany - kLeft - 100 + static_cast<int>(random() % (kLeft + 300));
        random() % 3 == 0 ? remove(i) : put(i, 2 + random() % 5);
      }
      if (random() % 2 == 0) checkpoint();
    });
    EXPECT_GT(steps_, 3);
    checkpoint();
    for (int i = kMany - kLeft - 200; i < kMany + 300; ++i) remove(i);
    checkpoint();
  }
  fill_and_empty();
  compact([&] { remove(kMany - 1), checkpoint(); });
  expect_the_same_as_the_twin();
}

TEST_F(Compacting, IsNotWantedWhileAThirdOfTheFileIsUsedOrTheFileIsSmall) {
  EXPECT_FALSE(store_->wants_compaction()) << "no checkpoint";
  put(1, 1);
  checkpoint();
  remove(1);
  checkpoint();
  EXPECT_FALSE(store_->wants_compaction()) << "a small file";
  for (int i = 0; i < kMany; ++i) put(i, 1);
  checkpoint();
  for (int i = 0; i < kMany; ++i) {
    remove(i);
    if (i % 500 != 0) continue;
    checkpoint();
    const auto size = store_->disk_size();
    ASSERT_TRUE(size);
    EXPECT_EQ(store_->wants_compaction(), size->file_bytes / 3 > size->file_bytes - size->free_bytes) << i;
  }
  EXPECT_TRUE(store_->wants_compaction());
  const PartitionStore in_memory;
  EXPECT_FALSE(in_memory.wants_compaction());
  EXPECT_FALSE(DiskSettings().compaction.file_bytes_min < 64U << 20) << "states that are small pay nothing";
}

TEST_F(Compacting, LeavesNothingBehindWhenItIsGivenUp) {
  fill_and_empty();
  const auto give_up = [&](const std::function<void()>& how) {
    ASSERT_TRUE(store_->compact().ok());
    EXPECT_TRUE(has_new_file());
    how();
    EXPECT_FALSE(has_new_file());
  };
  give_up([&] { store_->drop_compaction(); });
  EXPECT_TRUE(store_->wants_compaction());
  give_up([&] {
    store_.reset();
    store_ = place_.must_open(kSmall);
  });
  EXPECT_EQ(store_->found(), StateFolder::Copy::kSameBoot);
  give_up([&] { expect_the_same_as_the_twin(); });
  store_ = place_.must_open(kSmall);
  give_up([&] { ASSERT_TRUE(store_->wipe().ok()); });
  EXPECT_TRUE(store_->empty());
}

TEST_F(Compacting, GoesOnWhileAnotherThreadSyncs) {
  const auto sync = store_->sync_handle();
  std::atomic<bool> over = false;
  std::atomic<int> failures = 0;
  std::thread syncer([&] {
    for (; !over; std::this_thread::yield())
      if (!sync->sync()) ++failures;
  });
  for (int round = 0; round < 3; ++round) {
    fill_and_empty();
    compact();
    EXPECT_TRUE(sync->sync().ok());
  }
  over = true;
  syncer.join();
  EXPECT_EQ(failures, 0);
  expect_the_same_as_the_twin();
}

// Every open descriptor of the file becomes one of another, which takes or refuses what is written to it.
int divert(const std::string& file, const char* to) {
  const int other = ::open(to, O_RDWR | O_CLOEXEC);
  int diverted = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(entry.path(), gone) == fs::canonical(file))
      diverted += ::dup2(other, std::stoi(entry.path().filename())) >= 0 ? 1 : 0;
  }
  ::close(other);
  return diverted;
}

TEST_F(Compacting, LeavesTheOldFileWhenTheDiskRefusesTheNewOne) {
  fill_and_empty();
  const auto before = file_bytes();
  const auto is_refused = [&](const char* words) {
    const auto refused = store_->compact();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().what_to_do, ErrorClass::kRetriable) << refused.error().message;
    EXPECT_THAT(refused.error().message, HasSubstr(words));
    EXPECT_FALSE(store_->compacting());
    EXPECT_FALSE(has_new_file());
    EXPECT_FALSE(store_->fault().has_value());
    EXPECT_EQ(file_bytes(), before);
    EXPECT_TRUE(store_->wants_compaction());
  };
  ASSERT_TRUE(store_->compact().ok());
  ASSERT_GT(divert(place_.file("data.mdb.new"), "/dev/full"), 0);
  is_refused("No space left on device");
  ASSERT_TRUE(store_->compact().ok());
  ASSERT_GT(divert(place_.file("data.mdb.new"), "/dev/null"), 0);
  is_refused("cannot be synced");
  // A directory cannot be removed as a file is.
  fs::create_directory(place_.file("data.mdb.new"));
  const auto refused = store_->compact();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kRetriable);
  fs::remove(place_.file("data.mdb.new"));
  put(kMany - 1, 2);
  checkpoint();
  compact();
  EXPECT_LT(file_bytes(), before / 5);
  expect_the_same_as_the_twin();
}

TEST_F(Compacting, IsGivenUpAndNotTheCheckpointThatCannotBeWrittenToTheNewFile) {
  fill_and_empty();
  ASSERT_TRUE(store_->compact().ok());
  ASSERT_GT(divert(place_.file("data.mdb.new"), "/dev/full"), 0);
  for (int i = kMany - kLeft; i < kMany; ++i) put(i, 2);
  checkpoint();
  EXPECT_EQ(store_->dirty_rows(), 0U);
  const auto refused = store_->compact();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kRetriable);
  EXPECT_FALSE(has_new_file());
  expect_the_same_as_the_twin();
}

TEST_F(Compacting, CannotReplaceTheFileWithOneThatIsGone) {
  fill_and_empty();
  ASSERT_TRUE(store_->compact().ok());
  ASSERT_TRUE(fs::remove(place_.file("data.mdb.new")));
  Result<std::optional<Compacted>> compacted = std::optional<Compacted>();
  while (compacted && !compacted.value()) compacted = store_->compact();
  ASSERT_FALSE(compacted.ok());
  EXPECT_EQ(compacted.error().what_to_do, ErrorClass::kRetriable);
  EXPECT_THAT(compacted.error().message, HasSubstr("cannot rename"));
  put(kMany, 1);
  checkpoint();
  expect_the_same_as_the_twin();
}

TEST_F(Compacting, FindsARowThatIsDamaged) {
  fill_and_empty();
  const std::string key = document(name_of_document(kMany - 5), live(1)).key;
  close();
  {
    const auto opened = Environment::open(place_.folder(), {.map_bytes = 0, .create = false, .on_broken = {}});
    ASSERT_TRUE(opened.ok());
    const auto value = opened.value()->get(Table::kRows, key);
    std::string damaged(*value.value());
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    ASSERT_TRUE(
        opened.value()->write([&](Environment::Write& write) { return write.put(Table::kRows, key, damaged); }));
  }
  fs::remove(place_.file("clean"));
  store_ = place_.must_open(kSmall);
  ASSERT_TRUE(store_->wants_compaction());
  Result<std::optional<Compacted>> compacted = std::optional<Compacted>();
  while (compacted && !compacted.value()) compacted = store_->compact();
  ASSERT_FALSE(compacted.ok());
  EXPECT_EQ(compacted.error().what_to_do, ErrorClass::kFatal);
  EXPECT_TRUE(store_->fault().has_value());
  EXPECT_FALSE(store_->wants_compaction());
  EXPECT_EQ(store_->compact().error().what_to_do, ErrorClass::kFatal);
  EXPECT_TRUE(fs::exists(place_.file("poisoned")));
  EXPECT_FALSE(has_new_file());
}

Failpoint deadly = Failpoint::kCount;
int passes_left = 0;

void die_at(Failpoint point) {
  if (point == deadly && --passes_left == 0) (void)std::raise(SIGKILL);
}

class CompactingKilled : public Compacting {
 protected:
  CompactingKilled() : Compacting(kOneStep) {}

  // The state as it was at the last checkpoint, whichever of the files it is in.
  void expect_it_is_there_after_a_kill_at(Failpoint point, int passes) {
    fill_and_empty();
    put(kMany, 1);
    checkpoint();
    store_.reset();
    ASSERT_TRUE(twin_->close_clean().ok());
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      store_ = place_.must_open(passes > 1 ? kSmall : kOneStep);
      deadly = point;
      passes_left = passes;
      set_failpoint_hook(die_at);
      while (store_->wants_compaction()) (void)store_->compact();
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it never came there";
    store_ = place_.must_open(kOneStep);
    ASSERT_NE(store_, nullptr);
    EXPECT_FALSE(has_new_file());
    EXPECT_EQ(store_->found(), StateFolder::Copy::kSameBoot);
    const bool replaced = point == Failpoint::kCompactionRenamed || point == Failpoint::kCompactionReplaced;
    EXPECT_EQ(store_->wants_compaction(), !replaced);
    EXPECT_EQ(store_->summary(), twin_->summary());
    ASSERT_TRUE(store_->close_clean().ok());
    EXPECT_TRUE(dump(place_) == dump(twin_place_));
  }
};

TEST_F(CompactingKilled, AtItsBeginHasTheOldFile) {
  expect_it_is_there_after_a_kill_at(Failpoint::kCompactionBegin, 1);
}
TEST_F(CompactingKilled, BehindAStepHasTheOldFile) {
  expect_it_is_there_after_a_kill_at(Failpoint::kCompactionCopied, 1);
}
TEST_F(CompactingKilled, BehindALaterStepHasTheOldFile) {
  expect_it_is_there_after_a_kill_at(Failpoint::kCompactionCopied, 3);
}
TEST_F(CompactingKilled, WithAWholeNewFileHasTheOldFile) {
  expect_it_is_there_after_a_kill_at(Failpoint::kCompactionWhole, 1);
}
TEST_F(CompactingKilled, BehindTheRenameHasTheNewFile) {
  expect_it_is_there_after_a_kill_at(Failpoint::kCompactionRenamed, 1);
}
TEST_F(CompactingKilled, BehindItsEndHasTheNewFile) {
  expect_it_is_there_after_a_kill_at(Failpoint::kCompactionReplaced, 1);
}

// A limit on the length of files stands for a disk that is full.
TEST_F(Compacting, LivesThroughAFullDisk) {
  fill_and_empty();
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full{48U << 10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  Result<std::optional<Compacted>> compacted = std::optional<Compacted>();
  while (compacted && !compacted.value()) compacted = store_->compact();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(compacted.ok());
  EXPECT_EQ(compacted.error().what_to_do, ErrorClass::kRetriable) << compacted.error().message;
  EXPECT_FALSE(has_new_file());
  compact();
  expect_the_same_as_the_twin();
}

TEST(StateFolderOfACompaction, IsRidOfANewFileWhenItIsOpenedAndNotWhenItIsLookedAt) {
  const Place place;
  ASSERT_TRUE(StateFolder::open(place.folder(), kBootId).ok());
  for (const char* name : {"data.mdb.new", "data.mdb.new-lock"})
    ::close(::open(place.file(name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ASSERT_TRUE(StateFolder::look(place.folder(), kBootId).ok());
  EXPECT_TRUE(fs::exists(place.file("data.mdb.new")));
  ASSERT_TRUE(StateFolder::open(place.folder(), kBootId).ok());
  EXPECT_FALSE(fs::exists(place.file("data.mdb.new")));
  EXPECT_FALSE(fs::exists(place.file("data.mdb.new-lock")));
}

}  // namespace
}  // namespace reseq::store
