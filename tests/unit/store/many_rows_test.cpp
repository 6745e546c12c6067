// More rows than fit into one of anything: tables that grow, entries in several blocks, layers of the filter,
// checkpoints with rows that came, changed and went, a copy that is opened again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "rows.h"
#include "store/key_filter.h"
#include "store/memory_table.h"

namespace reseq::store {
namespace {

constexpr std::uint64_t kIds = 60'000;

std::string id_of(std::uint64_t i) {
  return (i % 3 == 0 ? "product/" : "p") + std::to_string(i) + std::string(i % 7, '\0') + (i % 5 == 0 ? "\xff" : "");
}

class ManyRows : public testing::Test {
 protected:
  ManyRows() : store_(place_.must_open()) { commit(*store_, {identity_row().put()}); }

  // Changes `count` documents that are drawn, some of them away.
  void change(std::size_t count) {
    std::map<std::string, Encoded> rows;
    std::vector<Change> changes;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = random_() % kIds;
      const std::string id = id_of(number);
      const auto [place, is_new] = rows.try_emplace(id, document(id, live(++sequence_)));
      if (!is_new) continue;
      const bool goes = random_() % 8 == 0;
      changes.push_back(goes ? place->second.gone() : place->second.put());
      if (goes)
        expected_.erase(number);
      else
        expected_[number] = sequence_;
    }
    commit(*store_, std::move(changes));
  }
  void expect_right() {
    for (std::uint64_t i = 0; i < kIds; ++i) {
      const auto found = find(*store_, id_of(i));
      const auto known = expected_.find(i);
      ASSERT_EQ(found.row.has_value(), known != expected_.end()) << i;
      if (found.row) {
        ASSERT_EQ(*found.row, live(known->second)) << i;
      }
    }
    EXPECT_EQ(store_->summary().counts[Count::kLiveRows], expected_.size());
    EXPECT_FALSE(store_->fault());
  }

  Place place_;
  std::unique_ptr<PartitionStore> store_;
  std::map<std::uint64_t, std::uint64_t> expected_;  // sequence by number
  std::mt19937_64 random_{5};
  std::uint64_t sequence_ = 0;
};

TEST_F(ManyRows, AreFoundInMemoryAndOnDiskWhateverCameAndWent) {
  for (int round = 0; round < 3; ++round) {
    change(30'000);
    ASSERT_TRUE(store_->write_checkpoint().ok());
    change(3'000);
  }
  expect_right();
}

TEST_F(ManyRows, AreFoundInACopyThatWasOpenedWithThem) {
  change(30'000);
  ASSERT_TRUE(store_->write_checkpoint().ok());
  store_.reset();
  store_ = place_.must_open();
  change(20'000);
  expect_right();
}

TEST_F(ManyRows, AreGoneAfterAWipe) {
  change(30'000);
  ASSERT_TRUE(store_->write_checkpoint().ok());
  ASSERT_TRUE(store_->wipe().ok());
  expected_.clear();
  commit(*store_, {identity_row(2).put()});
  change(10'000);
  ASSERT_TRUE(store_->write_checkpoint().ok());
  expect_right();
}

TEST(MemoryTable, GivesItsEntriesInTheOrderOfTheirBytes) {
  const codec::KeyedHash hash(identity().hash_key);
  MemoryTable table(hash);
  std::vector<std::string> keys = {"", "a", std::string("a\0", 2), std::string("a\0b", 3), "ab", "a\xff", "\xff"};
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < 5'000; ++i) {
    std::string key = "common/prefix/";
    for (std::size_t size = random() % 12; size > 0; --size) key.push_back(static_cast<char>(random() % 4 * 85));
    keys.push_back(key);
  }
  for (const std::string& key : keys) table.put(hash.hashed(key), "value");
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<std::string> in_order;
  for (const auto* entry : table.in_key_order()) in_order.emplace_back(entry->key());
  EXPECT_EQ(in_order, keys);
}

TEST(MemoryTable, KeepsAValueThatGrowsShrinksGoesAndComesBack) {
  const codec::KeyedHash hash(identity().hash_key);
  MemoryTable table(hash);
  const auto key = hash.hashed("key");
  for (const std::size_t size : {3U, 400U, 0U, 20U, 5'000U, 1U}) {
    table.put(key, std::string(size, 'x'));
    EXPECT_EQ(table.find(key)->value(), std::string(size, 'x'));
  }
  table.put(key, std::nullopt);
  EXPECT_EQ(table.find(key)->value(), std::nullopt);
  table.put(key, "back");
  EXPECT_EQ(table.find(key)->value(), "back");
  EXPECT_EQ(table.size(), 1U);
  table.clear();
  EXPECT_EQ(table.find(key), nullptr);
}

// What was replaced or removed is held until clear(): a checkpoint that waited for live bytes would never come.
TEST(MemoryTable, CountsWhatItHoldsOfRowsThatAreGone) {
  const codec::KeyedHash hash(identity().hash_key);
  MemoryTable table(hash);
  constexpr std::size_t kRows = 100;
  constexpr std::size_t kLarge = 10'000;
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::string id = "key-" + std::to_string(i);
    table.put(hash.hashed(id), std::string(kLarge, 'x'));
    table.put(hash.hashed(id), std::nullopt);
  }
  EXPECT_GE(table.bytes(), kRows * kLarge);
  const std::uint64_t held = table.bytes();
  const std::string id = "key-1";
  for (std::size_t size = 1; size < kLarge; ++size) table.put(hash.hashed(id), std::string(size, 'y'));
  EXPECT_EQ(table.bytes(), held) << "it fits where the old value was";
  table.clear();
  EXPECT_EQ(table.bytes(), 0U);
}

TEST(KeyFilter, FindsWhatWasAddedAndRarelyAnythingElse) {
  constexpr std::size_t kHashes = 300'000;  // in two layers
  KeyFilter filter;
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> added;
  for (std::size_t i = 0; i < kHashes; ++i) added.push_back(random());
  for (const std::uint64_t hash : added) filter.add(hash);
  for (const std::uint64_t hash : added) ASSERT_TRUE(filter.may_have(hash));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kHashes; ++i) wrong += filter.may_have(random()) ? 1 : 0;
  EXPECT_LT(wrong, kHashes / 20);
  EXPECT_GT(filter.added(), kHashes * 9 / 10);
}

}  // namespace
}  // namespace reseq::store
