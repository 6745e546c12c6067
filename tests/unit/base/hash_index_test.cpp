#include "base/hash_index.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace reseq {
namespace {

class Index : public testing::Test {
 protected:
  std::uint32_t find(std::uint64_t hash, const std::string& key) const {
    return index_.find(hash, [&](std::uint32_t number) { return keys_[number] == key; });
  }
  void add(std::uint64_t hash, const std::string& key) {
    index_.add(hash, static_cast<std::uint32_t>(keys_.size()));
    keys_.push_back(key);
  }

  HashIndex index_;
  std::vector<std::string> keys_;
};

TEST_F(Index, OfNothingFindsNothing) {
  EXPECT_EQ(find(7, "a"), HashIndex::kNone);
}

TEST_F(Index, FindsEveryKeyWhileItGrows) {
  std::mt19937_64 random(1);
  std::map<std::string, std::uint64_t> hashes;
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    const std::string key = std::to_string(i);
    hashes[key] = random();
    EXPECT_EQ(find(hashes[key], key), HashIndex::kNone);
    add(hashes[key], key);
    if (i % 500 != 0) continue;
    for (const auto& [known, hash] : hashes) EXPECT_EQ(keys_[find(hash, known)], known);
  }
}

TEST_F(Index, HoldsMoreThanItExpected) {
  index_.expect(100);
  for (std::uint64_t i = 0; i < 1'000; ++i) add(i << 40U, std::to_string(i));
  index_.expect(10);
  for (std::uint64_t i = 0; i < 1'000; ++i) EXPECT_EQ(find(i << 40U, std::to_string(i)), i);
}

TEST_F(Index, TellsKeysOfOneHashApart) {
  for (int i = 0; i < 200; ++i) add(~0ULL, std::to_string(i));
  for (std::uint32_t i = 0; i < 200; ++i) EXPECT_EQ(find(~0ULL, std::to_string(i)), i);
  EXPECT_EQ(find(~0ULL, "200"), HashIndex::kNone);
  EXPECT_EQ(find(~1ULL << 32U, "7"), HashIndex::kNone) << "the half that is kept differs";
}

TEST_F(Index, IsEmptyAfterClear) {
  add(1, "a");
  index_.clear();
  keys_.clear();
  EXPECT_EQ(find(1, "a"), HashIndex::kNone);
  add(1, "b");
  EXPECT_EQ(find(1, "b"), 0U);
}

}  // namespace
}  // namespace reseq
