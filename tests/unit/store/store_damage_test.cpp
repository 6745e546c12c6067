// What the disk can do to a copy: bits that flip, files cut short, no space. The answer may be an error, never a wrong
// row.
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

namespace reseq::store {
namespace {

constexpr int kDocuments = 400;

std::string id_of(int i) {
  return "doc-" + std::to_string(i) + (i % 50 == 0 ? std::string(600, 'x') : "");
}

Row row_number(int i) {
  return i % 3 == 0 ? watermark(static_cast<std::uint64_t>(i)) : live(static_cast<std::uint64_t>(i), 1000 + i);
}

void fill(const Place& place) {
  auto store = place.must_open();
  const Encoded identity = identity_row();
  const Encoded targets = targets_row(TargetTable({"search"}));
  const Encoded meta = meta_row(meta_of(1));
  commit(*store, {identity.put(), targets.put(), meta.put()});
  for (int i = 0; i < kDocuments; ++i) commit(*store, {document(id_of(i), row_number(i)).put()});
  ASSERT_TRUE(store->close_clean().ok());
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Everything the store says about the documents is right, or it says that it is broken.
void expect_right_or_broken(const Place& place, std::size_t& found) {
  const auto opened = place.open();
  if (!opened) {
    EXPECT_EQ(opened.error().what_to_do, ErrorClass::kInvalid);
    ++found;
    return;
  }
  const PartitionStore& store = *opened.value();
  for (int i = 0; i < kDocuments && !store.fault(); ++i) {
    const auto lookup = find(store, id_of(i));
    if (store.fault()) break;
    ASSERT_EQ(lookup.row, row_number(i)) << i;
  }
  if (store.fault()) ++found;
}

// With one bit of these bytes another one.
std::string flipped(std::string bytes, std::size_t begin, std::size_t size, std::mt19937_64& random) {
  const std::size_t byte = begin + random() % size;
  bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << (random() % 8)));
  return bytes;
}

// What is written there now, and the notes say nothing against it: whoever found damage said so on disk, too.
void put_back(const Place& place, const std::string& bytes) {
  std::filesystem::remove(place.file("poisoned"));
  write_bytes(place.file("data.mdb"), bytes);
  write_bytes(place.file("clean"), "1 " + std::to_string(bytes.size()) + "\n");
}

// A row whose key has changed is not found any more, which must not mean that it is not there.
TEST(StoreDamage, IsFoundWhereverAKeyHasAFlippedBit) {
  const Place place("/dev/shm");
  fill(place);
  const std::string good = bytes_of(place.file("data.mdb"));
  std::mt19937_64 random(9);
  std::size_t flips = 0;
  std::size_t found = 0;
  for (int i = 0; i < kDocuments; ++i) {
    const Encoded row = document(id_of(i), row_number(i));
    // On leaves, and on pages that lead there.
    for (std::size_t at = good.find(row.key); at != std::string::npos && flips < 1'000;
         at = good.find(row.key, at + row.key.size()), ++flips) {
      put_back(place, flipped(good, at, row.key.size(), random));
      expect_right_or_broken(place, found);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(flips, static_cast<std::size_t>(kDocuments));
  EXPECT_GE(found, static_cast<std::size_t>(kDocuments)) << "on each leaf at least";
}

TEST(StoreDamage, IsFoundWhereverAValueHasAFlippedBit) {
  const Place place("/dev/shm");
  fill(place);
  const std::string good = bytes_of(place.file("data.mdb"));
  std::mt19937_64 random(7);
  std::size_t found = 0;
  constexpr std::size_t kFlips = 400;
  for (std::size_t flip = 0; flip < kFlips; ++flip) {
    const int i = static_cast<int>(random() % kDocuments);
    Encoded row = document(id_of(i), row_number(i));
    if (flip % 20 == 1) row = identity_row();
    if (flip % 20 == 2) row = targets_row(TargetTable({"search"}));
    if (flip % 20 == 3) row = meta_row(meta_of(1));
    const std::size_t at = good.find(row.value);
    ASSERT_NE(at, std::string::npos);
    put_back(place, flipped(good, at, row.value.size(), random));
    expect_right_or_broken(place, found);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(found, kFlips);
}

TEST(StoreDamage, IsFoundByPassesAndSums) {
  const Place place("/dev/shm");
  fill(place);
  const std::string good = bytes_of(place.file("data.mdb"));
  const Encoded row = document(id_of(7), row_number(7));
  std::string bad = good;
  const std::size_t at = good.find(row.value) + row.value.size() / 2;
  bad[at] = static_cast<char>(bad[at] ^ 4);
  const auto expect_fault = [&](const auto& use) {
    write_bytes(place.file("data.mdb"), bad);
    std::filesystem::remove(place.file("poisoned"));
    write_bytes(place.file("clean"), "1 " + std::to_string(good.size()) + "\n");
    const auto store = place.must_open();
    use(*store);
    ASSERT_TRUE(store->fault().has_value());
    EXPECT_EQ(store->write_checkpoint().error().what_to_do, ErrorClass::kFatal);
    EXPECT_FALSE(store->close_clean().ok());
    EXPECT_TRUE(store->wipe().ok());
    EXPECT_FALSE(store->fault().has_value());
  };
  const Encoded newer = document(id_of(7), row_number(8));
  const Change change = newer.put();
  expect_fault([](const PartitionStore& store) { (void)pending_targets(store); });
  expect_fault([](const PartitionStore& store) { (void)store.sweep({}, 100000, UnixMs(5)); });
  expect_fault([](const PartitionStore& store) { (void)store.due(UnixMs(100000), 100000); });
  expect_fault([&](const PartitionStore& store) { (void)store.after(std::span(&change, 1)); });
  expect_fault(
      [&](PartitionStore& store) { EXPECT_EQ(restore_next(store, change).error().what_to_do, ErrorClass::kFatal); });
  expect_fault([&](PartitionStore& store) {
    store.apply(std::span(&change, 1), store.summary(), Offset(1000000));
    EXPECT_FALSE(store.write_checkpoint().ok()) << "an old row that is damaged says nothing about its timer";
  });
}

TEST(StoreDamage, PoisonsTheCopyForTheNextOpen) {
  const Place place;
  fill(place);
  std::string bad = bytes_of(place.file("data.mdb"));
  const Encoded row = document(id_of(7), row_number(7));
  const std::size_t at = bad.find(row.value) + 3;
  bad[at] = static_cast<char>(bad[at] ^ 4);
  write_bytes(place.file("data.mdb"), bad);
  {
    const auto store = place.must_open();
    EXPECT_FALSE(find(*store, id_of(7)).row.has_value());
    EXPECT_TRUE(store->fault().has_value());
  }
  const auto again = place.open();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().what_to_do, ErrorClass::kInvalid);
  auto folder = StateFolder::open(place.folder(), kBootId);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder.value()->found(), StateFolder::Copy::kPoisoned);
  ASSERT_TRUE(folder.value()->wipe().ok());
  const auto rebuilt = PartitionStore::open(std::move(folder).value(), {});
  ASSERT_TRUE(rebuilt.ok());
  EXPECT_TRUE(rebuilt.value()->empty());
}

// LMDB believes its two meta pages. Whatever they say, the copy opens, or it is damaged, or the process dies and leaves
// the mark that makes the next one rebuild it.
TEST(StoreDamage, OfBothMetaPagesIsNeverALackOfSomething) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kMetaBytes = 160;
  constexpr int kOpensOrIsDamaged = 0;
  constexpr int kOther = 9;
  const Place place;
  fill(place);
  const std::string whole = bytes_of(place.file("data.mdb"));
  std::mt19937_64 random(12);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole;
    for (std::size_t page = 0; page < 2; ++page)
      for (int flips = 0; flips < 4; ++flips)
        damaged[page * kPage + random() % kMetaBytes] ^= static_cast<char>(1U << random() % 8);
    write_bytes(place.file("data.mdb"), damaged);
    const pid_t child = ::fork();
    if (child == 0) {
      CrashMark::watch();
      const auto opened = place.open();
      ::_exit(opened || opened.error().what_to_do == ErrorClass::kInvalid ? kOpensOrIsDamaged : kOther);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const bool poisoned = std::filesystem::remove(place.file("poisoned"));
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == kOpensOrIsDamaged;
    EXPECT_TRUE(good || poisoned) << "round " << round << " status " << status;
    refused += poisoned ? 1 : 0;
    std::filesystem::remove(place.file("lock.mdb"));
  }
  EXPECT_LT(refused, 200);
}

TEST(StoreDamage, ThatEndsTheProcessPoisonsTheCopy) {
  const Place place;
  fill(place);
  EXPECT_DEATH(
      {
        CrashMark::watch();
        const auto store = place.must_open();
        std::filesystem::resize_file(place.file("data.mdb"), 4096);
        for (int i = 0; i < kDocuments; ++i) (void)find(*store, id_of(i));
      },
      "");
  EXPECT_TRUE(std::filesystem::exists(place.file("poisoned")));
  const auto folder = StateFolder::open(place.folder(), kBootId);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder.value()->found(), StateFolder::Copy::kPoisoned);
}

TEST(StoreDamage, IsNotBlamedForACrashElsewhere) {
  const Place place;
  fill(place);
  EXPECT_DEATH(
      {
        CrashMark::watch();
        const auto store = place.must_open();
        (void)find(*store, id_of(1));
        std::raise(SIGSEGV);
        ::_exit(0);
      },
      "");
  EXPECT_FALSE(std::filesystem::exists(place.file("poisoned")));
}

TEST(StoreDamage, OfAFileCutShortIsFoundAtOpen) {
  const Place place;
  fill(place);
  const auto size = std::filesystem::file_size(place.file("data.mdb"));
  for (const auto length : {size - 1, size - 4096, size / 2, std::uintmax_t{8192}, std::uintmax_t{5000}}) {
    std::filesystem::resize_file(place.file("data.mdb"), length);
    write_bytes(place.file("clean"), "1 " + std::to_string(length) + "\n");
    const auto opened = place.open();
    ASSERT_FALSE(opened.ok()) << length;
    EXPECT_EQ(opened.error().what_to_do, ErrorClass::kInvalid) << opened.error().message;
  }
}

TEST(StoreDamage, OfARecordOfANewerVersionIsRefused) {
  const Place place;
  fill(place);
  std::string bytes = bytes_of(place.file("data.mdb"));
  const auto store = place.must_open();
  const std::string record = encode_checkpoint({*store->checkpoint(), store->summary()});
  const std::size_t at = bytes.find(record);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 4;
  EXPECT_EQ(place.open().error().what_to_do, ErrorClass::kRetriable) << "still held";
  const Place copied;
  std::filesystem::create_directories(copied.folder());
  std::filesystem::permissions(copied.folder(), std::filesystem::perms::owner_all);
  write_bytes(copied.file("data.mdb"), bytes);
  write_bytes(copied.file("clean"), "1 " + std::to_string(bytes.size()) + "\n");
  const auto opened = copied.open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("version"));
}

TEST(StoreDamage, OfATableThatIsNoCopyIsRefused) {
  const Place place;
  auto folder = StateFolder::open(place.folder(), kBootId);
  ASSERT_TRUE(folder.value()->begin_writing().ok());
  write_bytes(place.file("data.mdb"), std::string(16384, 'x'));
  folder.value().reset();
  const auto opened = place.open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().what_to_do, ErrorClass::kInvalid);
}

// In a process of its own: a limit on the length of files stands for a disk that is full.
int lives_through_a_full_disk(const Place& place) {
  auto store = place.must_open();
  const Encoded identity = identity_row();
  commit(*store, {identity.put()});
  for (int i = 0; i < 2000; ++i) commit(*store, {document("doc-" + std::to_string(i), live(1)).put()});
  if (!store->write_checkpoint()) return 1;
  const auto before = store->checkpointed();
  for (int i = 0; i < 6000; ++i) commit(*store, {document("doc-" + std::to_string(i), live(2)).put()});

  ::signal(SIGXFSZ, SIG_IGN);
  const auto size = std::filesystem::file_size(place.file("data.mdb"));
  const struct rlimit full { size + 8192, RLIM_INFINITY };
  if (::setrlimit(RLIMIT_FSIZE, &full) != 0) return 2;
  const auto refused = store->write_checkpoint();
  if (refused || refused.error().what_to_do != ErrorClass::kRetriable || store->fault()) return 3;
  if (store->checkpointed() != before || store->dirty_rows() != 6000) return 4;
  if (find(*store, "doc-5999").row != live(2)) return 5;
  const struct rlimit more { RLIM_INFINITY, RLIM_INFINITY };
  if (::setrlimit(RLIMIT_FSIZE, &more) != 0) return 6;
  if (!store->write_checkpoint() || store->dirty_rows() != 0) return 7;
  if (find(*store, "doc-7").row != live(2) || !store->close_clean()) return 8;
  store.reset();
  store = place.must_open();
  return store && store->rows() == 6001 && pending_targets(*store) == TargetSet(1) ? 0 : 9;
}

TEST(StoreDamage, OfAFullDiskIsNone) {
  const Place place;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(lives_through_a_full_disk(place));
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace reseq::store
