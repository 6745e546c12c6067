// SortedKeys gives the keys in order to each reader, whatever was added before and between them.
#include "store/sorted_keys.h"

#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>

namespace reseq::store {
namespace {

// Keys, and what a reader has to find.
class Keys {
 public:
  void add(const std::string& key) {
    if (!model_.insert(key).second) return;
    bytes_.push_back(key);
    keys_.add(bytes_.back());
  }
  // The first so many behind the cursor, or fewer if there are no more.
  [[nodiscard]] std::vector<std::string> read(const std::string& cursor, std::size_t max) const {
    std::vector<std::string> found;
    for (auto walk = keys_.behind(cursor); walk.valid() && found.size() < max; walk.next())
      found.emplace_back(walk.key());
    return found;
  }
  [[nodiscard]] std::vector<std::string> expected(const std::string& cursor, std::size_t max) const {
    std::vector<std::string> found;
    for (auto at = model_.upper_bound(cursor); at != model_.end() && found.size() < max; ++at) found.push_back(*at);
    return found;
  }
  void clear() {
    keys_.clear();
    model_.clear();
    bytes_.clear();
  }

 private:
  std::deque<std::string> bytes_;
  SortedKeys keys_;
  std::set<std::string> model_;
};

constexpr std::size_t kAll = SIZE_MAX;

TEST(SortedKeys, AreNoneAtFirstAndAfterAClear) {
  Keys keys;
  EXPECT_TRUE(keys.read("", kAll).empty());
  keys.add("a");
  EXPECT_EQ(keys.read("", kAll), std::vector<std::string>{"a"});
  EXPECT_TRUE(keys.read("a", kAll).empty()) << "behind it, not from it on";
  keys.clear();
  EXPECT_TRUE(keys.read("", kAll).empty());
}

// More readers than find what is new unsorted, with and without keys that come between them.
TEST(SortedKeys, AreInOrderForEveryReader) {
  for (const int added_between : {0, 1, 50}) {
    std::mt19937 random(7);
    const auto draw = [&] { return "D" + std::to_string(random() % 100'000); };
    Keys keys;
    for (int i = 0; i < 3'000; ++i) keys.add(draw());
    for (int reader = 0; reader < 100; ++reader) {
      const std::string cursor = reader % 3 == 0 ? "" : draw();
      const std::size_t max = reader % 5 == 0 ? kAll : random() % 100;
      ASSERT_EQ(keys.read(cursor, max), keys.expected(cursor, max)) << added_between << ", reader " << reader;
      for (int i = 0; i < added_between; ++i) keys.add(draw());
    }
  }
}

// A page of a list looks up what each of its documents has in lanes.
TEST(SortedKeys, AreInOrderForAReaderDuringWhichManyOthersBegin) {
  std::deque<std::string> bytes;
  SortedKeys keys;
  const auto add_until = [&](int end) {
    while (static_cast<int>(bytes.size()) < end) {
      bytes.push_back("D" + std::to_string(100'000 + (bytes.size() * 7'919) % 1'200));
      keys.add(bytes.back());
    }
  };
  add_until(600);
  for (int reader = 0; reader < 20; ++reader) (void)keys.behind("");
  add_until(1'200);
  std::vector<std::string> seen;
  for (auto walk = keys.behind(""); walk.valid(); walk.next()) {
    seen.emplace_back(walk.key());
    for (int other = 0; other < 2; ++other) {
      const auto nested = keys.behind(seen.back());
      ASSERT_EQ(nested.valid(), seen.size() < 1'200) << seen.back();
    }
  }
  const std::set<std::string> expected(bytes.begin(), bytes.end());
  EXPECT_EQ(seen, std::vector<std::string>(expected.begin(), expected.end()));
}

}  // namespace
}  // namespace reseq::store
