// What the disk can do to the entries of an index: each that is read has its row, and that row says the same.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "rows.h"
#include "store/index_key.h"

namespace reseq::store {
namespace {

std::string key_in_index(std::uint8_t index, const std::string& entry, const std::string& row) {
  std::string key;
  append_index_key({index, entry, row}, key);
  return key;
}

std::string row_key(int i) {
  return codec::held_key(1, "rank-" + std::to_string(10 + i));
}

constexpr int kHeldRows = 30;

// Rows of two indexes, and two timers.
void fill_index(const Place& place) {
  auto store = place.must_open();
  const Encoded identity = identity_row();
  commit(*store, {identity.put()});
  for (int i = 0; i < kHeldRows; ++i)
    commit(*store,
           {held_row("rank-" + std::to_string(10 + i), {{3, "entry-" + std::to_string(i % 5)}, {4, ""}}).put()});
  for (const char* id : {"a", "b"}) commit(*store, {document(id, live(1, 100)).put()});
  ASSERT_TRUE(store->close_clean().ok());
}

void say_clean(const Place& place) {
  std::filesystem::remove(place.file("poisoned"));
  std::ofstream(place.file("clean"), std::ios::trunc)
      << "1 " << std::filesystem::file_size(place.file("data.mdb")) << "\n";
}

// Puts a key into the table of timers and indexes behind the back of the store.
void slip_in(const Place& place, const std::string& key) {
  {
    const auto opened = Environment::open(place.folder(), {.map_bytes = 0, .create = false, .on_broken = {}});
    ASSERT_TRUE(opened.ok());
    ASSERT_TRUE(
        opened.value()->write([&](Environment::Write& write) { return write.put(Table::kTimers, key, {}); }).ok());
  }
  say_clean(place);
}

void expect_fault_of_index_alone(const std::string& key, std::uint8_t index) {
  const Place place("/dev/shm");
  fill_index(place);
  slip_in(place, key);
  const auto store = place.must_open();
  EXPECT_EQ(store->earliest_deadline(), UnixMs(100));
  EXPECT_EQ(store->due(UnixMs(100), 10), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(index_of(*store, index == 3 ? 4 : 3).size(), std::size_t{kHeldRows});
  EXPECT_FALSE(store->fault());
  (void)index_of(*store, index);
  ASSERT_TRUE(store->fault());
  EXPECT_EQ(store->fault()->what_to_do, ErrorClass::kInvalid);
  EXPECT_EQ(store->write_checkpoint().error().what_to_do, ErrorClass::kFatal);
}

TEST(IndexDamage, OfAnEntryWithoutItsRowIsFound) {
  expect_fault_of_index_alone(key_in_index(3, "entry-2", row_key(kHeldRows + 1)), 3);
  expect_fault_of_index_alone(key_in_index(9, "entry-2", row_key(kHeldRows + 1)), 9);
}

TEST(IndexDamage, OfAnEntryThatItsRowDoesNotSayIsFound) {
  expect_fault_of_index_alone(key_in_index(3, "entry-9", row_key(1)), 3);
  expect_fault_of_index_alone(key_in_index(3, "entry-2", row_key(1)), 3);
  expect_fault_of_index_alone(key_in_index(9, "entry-1", row_key(1)), 9);
  expect_fault_of_index_alone(key_in_index(4, "", document("a", live(1)).key), 4);
}

TEST(IndexDamage, OfALeaseThatItsDocumentDoesNotHaveIsFound) {
  const auto [entry, key] = lease_of(20, "a");
  expect_fault_of_index_alone(key_in_index(codec::kLeaseIndex, entry, key), codec::kLeaseIndex);
  expect_fault_of_index_alone(key_in_index(codec::kLeaseIndex, entry, document("z", live(1)).key), codec::kLeaseIndex);
}

TEST(IndexDamage, OfAKeyThatIsNoneIsFound) {
  expect_fault_of_index_alone("\x03", 3);
  expect_fault_of_index_alone(
      "\x03\x07"
      "entry-2",
      3);
  expect_fault_of_index_alone("\x03\x41" + std::string(70, 'e'), 3);
}

// An entry that memory says something else of is not read.
TEST(IndexDamage, OfAnEntryThatMemoryHidesIsNone) {
  const Place place("/dev/shm");
  fill_index(place);
  slip_in(place, key_in_index(3, "entry-9", row_key(1)));
  const auto store = place.must_open();
  const Encoded changed = held_row("rank-11", {{3, "entry-0"}});
  commit(*store, {changed.put()});
  EXPECT_EQ(index_of(*store, 3).size(), std::size_t{kHeldRows});
  EXPECT_FALSE(store->fault());
}

TEST(IndexDamage, OfTheRowOfAnEntryIsFound) {
  const Place place("/dev/shm");
  fill_index(place);
  const Encoded row = held_row("rank-11", {{3, "entry-1"}, {4, ""}});
  std::fstream file(place.file("data.mdb"), std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = bytes.find(row.value);
  ASSERT_NE(at, std::string::npos);
  file.seekp(static_cast<std::streamoff>(at) + 3);
  file.put(static_cast<char>(bytes[at + 3] ^ 1));
  file.close();
  const auto store = place.must_open();
  (void)index_of(*store, 3);
  EXPECT_TRUE(store->fault());
}

// The first byte says of which index it is: the first of an index is not missed there. The others hide what is behind.
TEST(IndexDamage, OfAnyBitOfAnEntryIsFoundByAPass) {
  const Place place("/dev/shm");
  fill_index(place);
  std::ifstream file(place.file("data.mdb"), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  for (int i = 0; i < kHeldRows; i += 7) {
    const std::string key = key_in_index(3, "entry-" + std::to_string(i % 5), row_key(i));
    const std::size_t at = good.find(key);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(good.find(key, at + 1), std::string::npos);
    for (std::size_t bit = i == 0 ? 8 : 0; bit < key.size() * 8; ++bit) {
      std::string bad = good;
      bad[at + bit / 8] = static_cast<char>(bad[at + bit / 8] ^ (1 << (bit % 8)));
      std::ofstream(place.file("data.mdb"), std::ios::binary | std::ios::trunc) << bad;
      say_clean(place);
      const auto store = place.must_open();
      (void)index_of(*store, 3);
      ASSERT_TRUE(store->fault()) << i << " bit " << bit;
    }
  }
}

}  // namespace
}  // namespace reseq::store
