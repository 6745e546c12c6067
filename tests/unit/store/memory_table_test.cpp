#include "store/memory_table.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rows.h"
#include "store/index_key.h"

namespace reseq::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Timers : public testing::Test {
 protected:
  void put(const std::string& id, std::int64_t deadline) { put(document(id, live(1, deadline)).put()); }
  void put(const Change& change) { table_.put(hash_.hashed(change.key), change.value); }
  std::vector<std::pair<std::int64_t, std::string>> until(std::int64_t now, std::size_t least = 100) const {
    std::vector<std::pair<std::int64_t, std::string>> due;
    for (const Timer& timer : table_.timers_until(UnixMs(now), least))
      due.emplace_back(timer.deadline.value(), codec::parse_key(timer.key)->name);
    return due;
  }

  codec::KeyedHash hash_{identity().hash_key};
  MemoryTable table_{hash_};
};

TEST_F(Timers, ComeByDeadlineAndThenByKey) {
  for (const char* id : {"c", "a", "b"}) put(id, 20);
  put("d", 10);
  put("e", 30);
  put("never", 0);
  EXPECT_EQ(table_.earliest_timer(), UnixMs(10));
  EXPECT_THAT(until(9), IsEmpty());
  EXPECT_THAT(until(20), ElementsAre(std::pair(10, "d"), std::pair(20, "a"), std::pair(20, "b"), std::pair(20, "c")));
}

TEST_F(Timers, ComeAsManyAsAreAskedForAndThoseOfTheSameTime) {
  for (std::int64_t i = 9; i > 0; --i) put("at " + std::to_string(i), i);
  put("also at 2", 2);
  put("at 1", 11);
  put("at 1", 1);
  EXPECT_THAT(until(100, 2), ElementsAre(std::pair(1, "at 1"), std::pair(2, "also at 2"), std::pair(2, "at 2")));
  EXPECT_THAT(until(100, 1), ElementsAre(std::pair(1, "at 1")));
}

TEST_F(Timers, AreThoseThatTheRowsHaveNow) {
  put("moved", 10);
  put("moved", 40);
  put("completed", 10);
  put(document("completed", watermark(1, 50)).put());
  put("gone", 10);
  put(document("gone", live(1)).gone());
  EXPECT_EQ(table_.earliest_timer(), UnixMs(40));
  put("moved", 20);
  put("moved", 40);
  EXPECT_THAT(until(100), ElementsAre(std::pair(40, "moved"))) << "once";
  table_.clear();
  EXPECT_EQ(table_.earliest_timer(), std::nullopt);
}

TEST_F(Timers, ThatAreVoidTakeABoundedRoom) {
  put("still", 5);
  for (std::int64_t i = 1; i < 100'000; ++i) put("hot", 10 + i % 3);
  EXPECT_LE(table_.timers_held(), MemoryTable::kVoidTimersMin + 2 * table_.size());
  EXPECT_THAT(until(100), ElementsAre(std::pair(5, "still"), std::pair(10, "hot")));
}

using IndexKeys = Timers;

TEST_F(IndexKeys, AreThoseThatTheRowsHaveNow) {
  const auto entries = [this] {
    std::vector<std::pair<std::string, std::string>> found;
    for (const std::string_view key : table_.index_keys()) {
      const auto parsed = parse_index_key(key);
      found.emplace_back(std::to_string(parsed->index) + " " + std::string(parsed->entry),
                         codec::parse_key(parsed->row)->name);
    }
    return found;
  };
  put(held_row("r-1", {{1, "b"}, {0, "b"}, {1, "a"}, {1, "a"}}).put());
  put(held_row("r-0", {{1, "b"}}).put());
  put("document", 10);
  EXPECT_THAT(entries(), ElementsAre(std::pair("0 b", "r-1"), std::pair("1 a", "r-1"), std::pair("1 b", "r-0"),
                                     std::pair("1 b", "r-1")));
  const std::uint64_t bytes = table_.bytes();
  put(held_row("r-1", {{1, "c"}}).put());
  EXPECT_GT(table_.bytes(), bytes);
  EXPECT_THAT(entries(), ElementsAre(std::pair("1 b", "r-0"), std::pair("1 c", "r-1")));
  put(held_row("r-1", {}).gone());
  put(held_row("r-1", {}).gone());
  EXPECT_THAT(entries(), ElementsAre(std::pair("1 b", "r-0")));
  put(held_row("r-1", {{1, "c"}}).put());
  put(held_row("r-0", {}).put());
  EXPECT_THAT(entries(), ElementsAre(std::pair("1 c", "r-1")));
  table_.clear();
  EXPECT_THAT(entries(), IsEmpty());
  put(held_row("r-1", {{1, "d"}}).put());
  EXPECT_THAT(entries(), ElementsAre(std::pair("1 d", "r-1")));
}

TEST_F(IndexKeys, OfDocumentsAreThoseOfTheirLeases) {
  const auto leases = [this] {
    std::vector<std::pair<std::uint64_t, std::string>> found;
    for (const std::string_view key : table_.index_keys()) {
      const auto parsed = parse_index_key(key);
      EXPECT_EQ(parsed->index, codec::kLeaseIndex);
      found.emplace_back(read_big_endian(parsed->entry), codec::parse_key(parsed->row)->name);
    }
    return found;
  };
  put("plain", 10);
  put(document("waits", with_journal(Row(), {waiting(1, 5)})).put());
  put(document("no lease", with_journal(live(1), {processing(1, 5, 0)})).put());
  EXPECT_THAT(leases(), IsEmpty());
  put(document("b", with_journal(live(1), {processing(1, 5, 20)})).put());
  put(document("a", with_journal(live(1), {waiting(2, 1), processing(1, 5, 300), processing(1, 5, 20)})).put());
  EXPECT_THAT(leases(), ElementsAre(std::pair(20, "a"), std::pair(20, "b"))) << "the first of them";
  put(document("a", with_journal(live(1), {processing(1, 5, 300)})).put());
  EXPECT_THAT(leases(), ElementsAre(std::pair(20, "b"), std::pair(300, "a")));
  EXPECT_EQ(table_.earliest_timer(), UnixMs(10)) << "a lease is no timer";
  put("b", 30);
  put(document("a", with_journal(live(1), {waiting(2, 1)})).put());
  EXPECT_THAT(leases(), IsEmpty()) << "over";
  put(document("a", with_journal(live(1), {processing(1, 5, 300)})).put());
  put(document("a", live(1)).gone());
  EXPECT_THAT(leases(), IsEmpty()) << "gone";
}

TEST(IndexKey, IsReadAsItWasWritten) {
  const std::string row = codec::held_key(1, "rank");
  for (const std::size_t bytes : {0U, 1U, 64U}) {
    const std::string entry(bytes, '\xFF');
    std::string key;
    append_index_key({127, entry, row}, key);
    EXPECT_LE(key.size(), kLmdbKeyBytesMax);
    const auto parsed = parse_index_key(key);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->index, 127);
    EXPECT_EQ(parsed->entry, entry);
    EXPECT_EQ(parsed->row, row);
  }
  using namespace std::string_literals;
  EXPECT_FALSE(parse_index_key(""));
  EXPECT_FALSE(parse_index_key("\1"));
  EXPECT_FALSE(parse_index_key("\1\0"s)) << "of no row";
  EXPECT_FALSE(parse_index_key("\1\2ab"s)) << "of no row";
  EXPECT_FALSE(parse_index_key("\1\3ab"s));
  EXPECT_FALSE(parse_index_key("\x80\1ab"s)) << "a timer";
  EXPECT_FALSE(parse_index_key("\1\x41"s + std::string(80, 'e')));
}

TEST(IndexKeyDeathTest, IsNotMadeOfAnEntryOutsideItsLimits) {
  std::string key;
  EXPECT_DEATH(append_index_key({kIndexes, "e", "row"}, key), "limits");
  EXPECT_DEATH(append_index_key({0, std::string(kMaxIndexEntryBytes + 1, 'e'), "row"}, key), "limits");
}

// As the table orders them, whatever their bytes are.
TEST(IndexKey, ComparesAsWhatItIsMadeOf) {
  std::vector<IndexKey> keys;
  for (const std::uint8_t index : std::array<std::uint8_t, 3>{0, 1, 127})
    for (const std::string_view entry : {"", "9", "H", "\xFF", "10", "H\x01"})
      for (const std::string_view row : {"H", "H1", "\xFF"}) keys.push_back({index, entry, row});
  const auto bytes_of = [](const IndexKey& key) {
    std::string bytes;
    append_index_key(key, bytes);
    return bytes;
  };
  for (const IndexKey& a : keys)
    for (const IndexKey& b : keys) EXPECT_EQ(a <=> b, bytes_of(a) <=> bytes_of(b));
}

TEST(IndexKey, OfTheLongestRowAndEntryFitsIntoATable) {
  const std::string row = codec::held_key(1, std::string(codec::kMaxRankBytes, 'r'));
  std::string key;
  append_index_key({0, std::string(kMaxIndexEntryBytes, 'e'), row}, key);
  EXPECT_LE(key.size(), kLmdbKeyBytesMax);
}

}  // namespace
}  // namespace reseq::store
