#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <thread>

#include "rows.h"

namespace reseq::store {
namespace {

std::unique_ptr<PartitionStore> born(const Place& place, const DiskSettings& settings = {}) {
  auto store = place.must_open(settings);
  const Encoded identity = identity_row();
  const Encoded targets = targets_row(TargetTable({"search", "catalogue"}));
  const Encoded meta = meta_row(meta_of(3));
  commit(*store, {identity.put(), targets.put(), meta.put()});
  return store;
}

void put(PartitionStore& store, const std::string& id, const Row& row) {
  commit(store, {document(id, row).put()});
}

// Entries of a table of a copy that was closed.
std::size_t entries(const Place& place, Table table) {
  const auto environment = Environment::open(place.folder(), {.map_bytes = 0, .create = false, .on_broken = {}});
  EXPECT_TRUE(environment.ok());
  return environment.value()->entries(table).value();
}

TEST(StoreCheckpoint, KeepsEverythingOverACleanClose) {
  const Place place;
  Summary summary;
  std::optional<Checkpoint> standing;
  {
    auto store = born(place);
    put(*store, "a", live(5, 77));
    const Encoded meta = meta_row(meta_of(3));
    commit(*store, {meta.put()});
    summary = store->summary();
    standing = store->checkpoint();
    ASSERT_TRUE(store->close_clean().ok());
  }
  const auto store = place.must_open();
  EXPECT_EQ(store->found(), StateFolder::Copy::kClean);
  EXPECT_EQ(store->summary(), summary);
  EXPECT_EQ(store->checkpoint(), standing);
  EXPECT_EQ(store->checkpointed(), standing);
  EXPECT_EQ(store->checkpoint()->generation, 3U);
  EXPECT_EQ(store->identity(), identity());
  EXPECT_EQ(store->meta(), meta_of(3));
  EXPECT_EQ(store->targets().names(), (std::vector<std::string>{"search", "catalogue"}));
  EXPECT_EQ(find(*store, "a").row, live(5, 77));
  EXPECT_EQ(store->earliest_deadline(), UnixMs(77));
  EXPECT_EQ(store->dirty_rows(), 0U);
}

TEST(StoreCheckpoint, IsWhereAKilledStoreComesBack) {
  const Place place;
  std::optional<Checkpoint> written;
  {
    auto store = born(place);
    put(*store, "a", live(1));
    ASSERT_TRUE(store->write_checkpoint().ok());
    written = store->checkpointed();
    put(*store, "a", live(2));
    put(*store, "b", live(1));
    EXPECT_EQ(store->dirty_rows(), 2U);
    EXPECT_GT(store->dirty_bytes(), 0U);
  }
  const auto store = place.must_open();
  EXPECT_EQ(store->found(), StateFolder::Copy::kSameBoot);
  EXPECT_EQ(store->checkpoint(), written);
  EXPECT_EQ(find(*store, "a").row, live(1));
  EXPECT_FALSE(find(*store, "b").row.has_value());
}

TEST(StoreCheckpoint, LeavesNothingOfARowThatCameAndWent) {
  const Place place;
  auto store = born(place);
  ASSERT_TRUE(store->write_checkpoint().ok());
  put(*store, "a", live(1, 50));
  commit(*store, {document("a", live(1)).gone()});
  ASSERT_TRUE(store->close_clean().ok());
  store.reset();
  EXPECT_EQ(entries(place, Table::kRows), 3U);
  EXPECT_EQ(entries(place, Table::kTimers), 0U);
}

TEST(StoreCheckpoint, KeepsOneTimerPerLiveRowWithADeadline) {
  const Place place;
  auto store = born(place);
  put(*store, "no-deadline", live(1));
  put(*store, "moved", live(1, 50));
  put(*store, "overdue", live(1, 20));
  put(*store, "completed", live(1, 10));
  ASSERT_TRUE(store->write_checkpoint().ok());
  put(*store, "moved", live(2, 60));
  put(*store, "overdue", live(1, 20, true));
  put(*store, "completed", watermark(1, 10));
  EXPECT_EQ(store->due(UnixMs(100), 10), (std::vector<std::string>{"moved"}));
  EXPECT_EQ(store->earliest_deadline(), UnixMs(60));
  ASSERT_TRUE(store->close_clean().ok());
  store.reset();
  EXPECT_EQ(entries(place, Table::kTimers), 1U);
}

TEST(StoreCheckpoint, LooksAtHiddenTimersAgainAfterTheNextOne) {
  const Place place;
  auto store = born(place);
  put(*store, "a", live(1, 10));
  put(*store, "b", live(1, 20));
  ASSERT_TRUE(store->write_checkpoint().ok());
  put(*store, "a", watermark(1));
  put(*store, "b", watermark(1));
  EXPECT_FALSE(store->earliest_deadline().has_value());
  put(*store, "a", live(2, 5));
  ASSERT_TRUE(store->write_checkpoint().ok());
  EXPECT_EQ(store->earliest_deadline(), UnixMs(5));
  EXPECT_EQ(store->due(UnixMs(5), 1), (std::vector<std::string>{"a"}));
}

TEST(StoreCheckpoint, GrowsAMapThatIsTooSmall) {
  const Place place("/dev/shm");
  auto store = born(place, {.map_bytes = 64U << 10});
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 5000; ++i) put(*store, "doc-" + std::to_string(round * 5000 + i), live(1, i + 1));
    const auto written = store->write_checkpoint();
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  EXPECT_EQ(find(*store, "doc-19999").row, live(1, 5000));
  EXPECT_EQ(store->due(UnixMs(1), 10).size(), 4U);
  store.reset();
  const auto again = place.must_open({.map_bytes = 64U << 10});
  EXPECT_EQ(find(*again, "doc-7").row, live(1, 8));
  EXPECT_EQ(again->rows(), 20002U);
}

TEST(StoreCheckpoint, CanBeWrittenWhileAnotherThreadSyncs) {
  const Place place("/dev/shm");
  auto store = born(place, {.map_bytes = 64U << 10});
  const auto sync = store->sync_handle();
  std::atomic<bool> over = false;
  std::atomic<int> failures = 0;
  std::thread syncer([&] {
    while (!over)
      if (!sync->sync()) ++failures;
  });
  for (int i = 0; i < 20000; ++i) {
    put(*store, "doc-" + std::to_string(i), live(1));
    if (i % 500 != 0) continue;
    EXPECT_TRUE(store->write_checkpoint().ok());
  }
  EXPECT_TRUE(store->close_clean().ok());
  store.reset();
  over = true;
  syncer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(sync->sync().ok()) << "nothing to do any more";
}

// Everything in the folder of a copy, byte by byte.
std::map<std::string, std::string> bytes_in(const Place& place) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(place.folder())) {
    std::ifstream file(entry.path());
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  return files;
}

TEST(StoreCheckpoint, IsLookedAtWithoutATrace) {
  const Place place;
  EXPECT_FALSE(look_at_copy(place.folder(), kBootId));
  EXPECT_FALSE(std::filesystem::exists(place.folder()));
  auto store = born(place);
  put(*store, "a", live(1));
  ASSERT_TRUE(store->write_checkpoint().ok());
  EXPECT_FALSE(look_at_copy(place.folder(), kBootId)) << "somebody has it";
  for (const bool clean : {false, true}) {
    const bool closed = !clean || store->close_clean().ok();
    ASSERT_TRUE(closed);
    store.reset();
    std::filesystem::remove(place.file("lock.mdb"));
    const auto before = bytes_in(place);
    const auto seen = look_at_copy(place.folder(), kBootId);
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->summary.counts[Count::kLiveRows], 1U);
    EXPECT_EQ(look_at_copy(place.folder(), "another boot").has_value(), clean);
    EXPECT_TRUE(bytes_in(place) == before);
    store = place.must_open();
    EXPECT_EQ(store->found(), clean ? StateFolder::Copy::kClean : StateFolder::Copy::kSameBoot);
  }
  store.reset();
  std::ofstream(place.file("data.mdb"), std::ios::trunc).close();
  EXPECT_FALSE(look_at_copy(place.folder(), kBootId));
  EXPECT_TRUE(std::filesystem::exists(place.file("data.mdb")));
  std::filesystem::remove(place.file("lock"));
  EXPECT_FALSE(look_at_copy(place.folder(), kBootId));
  EXPECT_FALSE(std::filesystem::exists(place.file("lock")));
}

// A directory cannot be removed as a file is: so a disk refuses.
TEST(StoreCheckpoint, ThatCannotBeEmptiedSaysWhyWhenItIsClosed) {
  const Place place;
  auto store = born(place);
  std::filesystem::remove(place.file("data.mdb"));
  std::filesystem::create_directory(place.file("data.mdb"));
  const auto wiped = store->wipe();
  ASSERT_FALSE(wiped.ok());
  const auto closed = store->close_clean();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().message, wiped.error().message);
  EXPECT_NE(closed.error().message.find("cannot remove data.mdb"), std::string::npos) << closed.error().message;
}

TEST(StoreCheckpoint, IsRefusedOnceASyncHasFailed) {
  const Place place;
  auto other = StateFolder::open(place.path() + "/other", kBootId);
  ASSERT_TRUE(other.ok());
  {
    SyncHandle broken;
    broken.attach(-1, *other.value());
    EXPECT_FALSE(broken.poisoned());
    const auto synced = broken.sync();
    ASSERT_FALSE(synced.ok());
    EXPECT_EQ(synced.error().what_to_do, ErrorClass::kFatal);
    EXPECT_FALSE(broken.sync().ok()) << "a second sync does not make it good";
    EXPECT_TRUE(broken.poisoned());
    broken.detach();
    EXPECT_FALSE(broken.poisoned()) << "of whoever opens the folder next";
  }
  EXPECT_TRUE(other.value()->poisoned());
  EXPECT_FALSE(other.value()->mark_clean().ok());
  ASSERT_TRUE(other.value()->wipe().ok());

  auto poisoned = DiskCopy::open(std::move(other).value(), {});
  ASSERT_TRUE(poisoned.ok());
  poisoned.value()->poison();
  const MemoryTable nothing(codec::KeyedHash(identity().hash_key));
  const auto refused = poisoned.value()->write(nothing, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kFatal);
  EXPECT_FALSE(poisoned.value()->close_clean().ok());
}

TEST(StoreCheckpoint, IsAllForgottenByAWipe) {
  const Place place;
  auto store = born(place);
  put(*store, "a", live(1, 10));
  ASSERT_TRUE(store->write_checkpoint().ok());
  put(*store, "b", live(1, 10));
  ASSERT_TRUE(store->wipe().ok());
  EXPECT_TRUE(store->empty());
  EXPECT_FALSE(store->checkpoint().has_value());
  EXPECT_FALSE(store->checkpointed().has_value());
  EXPECT_FALSE(store->earliest_deadline().has_value());
  EXPECT_FALSE(find(*store, "a").row.has_value());
  const Encoded identity = identity_row();
  commit(*store, {identity.put()});
  EXPECT_FALSE(find(*store, "a").row.has_value());
  put(*store, "c", live(1));
  ASSERT_TRUE(store->close_clean().ok());
  store.reset();
  store = place.must_open();
  EXPECT_EQ(find(*store, "c").row, live(1));
  EXPECT_EQ(store->rows(), 2U);
}

TEST(StoreCheckpoint, OfAnEmptyStoreIsNone) {
  const Place place;
  auto store = place.must_open();
  EXPECT_EQ(store->found(), StateFolder::Copy::kNone);
  EXPECT_TRUE(store->write_checkpoint().ok());
  EXPECT_FALSE(store->checkpointed().has_value());
  ASSERT_TRUE(store->close_clean().ok());
  store = nullptr;
  store = place.must_open();
  EXPECT_EQ(store->found(), StateFolder::Copy::kClean);
  EXPECT_TRUE(store->empty());
}

TEST(StoreCheckpoint, IsNothingInMemory) {
  PartitionStore store;
  const Encoded identity = identity_row();
  commit(store, {identity.put()});
  put(store, "a", live(1));
  EXPECT_FALSE(store.on_disk());
  EXPECT_EQ(store.dirty_rows(), 0U);
  EXPECT_TRUE(store.write_checkpoint().ok());
  EXPECT_FALSE(store.checkpointed().has_value());
  EXPECT_TRUE(store.close_clean().ok());
  EXPECT_TRUE(store.sync_handle()->sync().ok());
  EXPECT_EQ(find(store, "a").row, live(1));
  EXPECT_TRUE(store.wipe().ok());
  EXPECT_TRUE(store.empty());
}

CheckpointRecord record_of_documents() {
  CheckpointRecord record{{Offset(42), {1, 2}, 3}, {{4, 5}, {}, {}}};
  record.summary.counts[Count::kLiveRows] = 6;
  record.summary.counts[Count::kWatermarks] = 7;
  return record;
}

void expect_record_is_guarded(const CheckpointRecord& record) {
  const std::string bytes = encode_checkpoint(record);
  EXPECT_EQ(decode_checkpoint(bytes).value(), record);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto decoded = decode_checkpoint(damaged);
    ASSERT_FALSE(decoded.ok()) << bit;
    EXPECT_EQ(decoded.error().what_to_do, ErrorClass::kInvalid);
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_checkpoint(bytes.substr(0, size)).ok());
  EXPECT_FALSE(decode_checkpoint(bytes + "x").ok());
}

TEST(CheckpointRecord, IsRefusedWhenNewerOrDamaged) {
  CheckpointRecord record = record_of_documents();
  expect_record_is_guarded(record);
  record.summary.counts[Count::kHeldRecords] = 8;
  record.summary.counts[Count::kHeldBytes] = UINT64_MAX;
  expect_record_is_guarded(record);
  for (std::size_t count = 0; count < kCounts; ++count) record.summary.counts[static_cast<Count>(count)] = count + 1;
  expect_record_is_guarded(record);
  record.summary.priorities = {{0, 1, 0}, {100, UINT64_MAX, 7}, {255, 0, 1}};
  expect_record_is_guarded(record);
  record.summary.counts = Counts();
  expect_record_is_guarded(record);
}

// Older versions read the copies of states that have nothing else.
TEST(CheckpointRecord, OfDocumentsAloneIsOfTheFirstFormat) {
  CheckpointRecord record = record_of_documents();
  const std::string bytes = encode_checkpoint(record);
  EXPECT_EQ(bytes.front(), 1);
  EXPECT_EQ(bytes.size(), 69U);
  record.summary.counts[Count::kTasks] = 8;
  const std::string with_tasks = encode_checkpoint(record);
  EXPECT_EQ(with_tasks.front(), 2);
  EXPECT_EQ(with_tasks.substr(1, 64), bytes.substr(1, 64));
  EXPECT_EQ(with_tasks.size(), 78U);
  record.summary.priorities = {{5, 0, 1}};
  const std::string with_priorities = encode_checkpoint(record);
  EXPECT_EQ(with_priorities.front(), 3);
  EXPECT_EQ(with_priorities.substr(1, 64), bytes.substr(1, 64));
  EXPECT_EQ(with_priorities[65], 1) << "count";
  EXPECT_EQ(with_priorities.substr(66, 9), with_tasks.substr(65, 9));
  EXPECT_EQ(with_priorities.size(), 69U + 1 + 9 + 17);
}

std::string sealed(std::string record) {
  const std::uint32_t checksum = codec::crc32(record);
  for (unsigned shift = 0; shift < 32; shift += 8) record.push_back(static_cast<char>(checksum >> shift));
  return record;
}

TEST(CheckpointRecord, WithCountsThatNobodyWouldWriteIsRefused) {
  const std::string bytes = encode_checkpoint(record_of_documents());
  const auto is_read = [&](const std::vector<std::pair<std::uint8_t, char>>& counts, char format = 2) {
    std::string forged = format + bytes.substr(1, 64);
    for (const auto& [count, sum] : counts) {
      forged.push_back(static_cast<char>(count));
      forged += sum + std::string(7, '\0');
    }
    return decode_checkpoint(sealed(forged)).ok();
  };
  EXPECT_TRUE(is_read({}, 1));
  EXPECT_TRUE(is_read({{2, 1}}));
  EXPECT_TRUE(is_read({{2, 1}, {5, 9}}));
  EXPECT_FALSE(is_read({})) << "the second format without any";
  EXPECT_FALSE(is_read({{2, 1}}, 1)) << "the first format with some";
  EXPECT_FALSE(is_read({{2, 1}}, 3)) << "the third format without priorities";
  EXPECT_FALSE(is_read({{2, 1}}, 4)) << "a later format";
  EXPECT_FALSE(is_read({{2, 1}}, 0)) << "no format";
  EXPECT_FALSE(is_read({{2, 0}})) << "none of them";
  EXPECT_FALSE(is_read({{1, 1}})) << "that stand before";
  EXPECT_FALSE(is_read({{11, 1}})) << "that this version does not know";
  EXPECT_FALSE(is_read({{2, 1}, {2, 1}})) << "twice";
  EXPECT_FALSE(is_read({{5, 1}, {2, 1}})) << "falling";
}

TEST(CheckpointRecord, WithPrioritiesThatNobodyWouldWriteIsRefused) {
  const std::string bytes = encode_checkpoint(record_of_documents());
  const auto is_read = [&](const std::vector<PriorityCount>& priorities, char counts = 0, std::size_t more = 0) {
    std::string forged = '\3' + bytes.substr(1, 64) + counts;
    for (char count = 0; count < std::min(counts, '\3'); ++count)
      forged += static_cast<char>(2 + count) + std::string("\1\0\0\0\0\0\0\0", 8);
    for (const PriorityCount& one : priorities)
      forged += static_cast<char>(one.priority) + (static_cast<char>(one.waiting) + std::string(7, '\0')) +
                (static_cast<char>(one.processing) + std::string(7, '\0'));
    return decode_checkpoint(sealed(forged + std::string(more, '\1'))).ok();
  };
  EXPECT_TRUE(is_read({{5, 1, 0}, {6, 0, 1}}));
  EXPECT_TRUE(is_read({{5, 1, 0}}, 3));
  EXPECT_FALSE(is_read({})) << "none";
  EXPECT_FALSE(is_read({}, 3)) << "none, with counts";
  EXPECT_FALSE(is_read({{5, 0, 0}})) << "with nothing";
  EXPECT_FALSE(is_read({{5, 1, 0}, {5, 0, 1}})) << "twice";
  EXPECT_FALSE(is_read({{6, 1, 0}, {5, 0, 1}})) << "falling";
  EXPECT_FALSE(is_read({{5, 1, 0}}, 0, 1)) << "a byte more";
  EXPECT_FALSE(is_read({{5, 1, 0}}, 127)) << "more counts than there is room for";
  EXPECT_FALSE(decode_checkpoint(sealed('\3' + bytes.substr(1, 64))).ok()) << "no number of counts";
}

}  // namespace
}  // namespace reseq::store
