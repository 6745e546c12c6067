#include "engine/rows.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace reseq::engine {
namespace {

using Map = std::map<std::string, std::string, std::less<>>;

class MapView final : public StateView {
 public:
  explicit MapView(const Map& rows) : rows_(rows) {}
  [[nodiscard]] Lookup find(DocumentId /*id*/) const override { return {}; }
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const override {
    const auto found = rows_.find(key);
    return found == rows_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const RowVisit& visit) const override {
    for (const auto& [key, value] : rows_) {
      if (!key.starts_with(prefix) || key <= cursor) continue;
      if (rows_max-- == 0 || !visit(key, value)) return;
    }
  }

 private:
  const Map& rows_;
};

Map scanned(const Rows& rows, std::string_view prefix, std::string_view cursor, std::size_t rows_max) {
  Map found;
  std::string last;
  rows.scan(prefix, cursor, rows_max, [&](std::string_view key, std::string_view value) {
    EXPECT_GT(key, last) << "not in key order";
    last = key;
    found.emplace(key, value);
    return true;
  });
  return found;
}

TEST(Rows, AreReadAsTheBatchLeftThem) {
  const Map committed = {{"Ha", "1"}, {"Hb", "2"}};
  const MapView view(committed);
  Rows rows(view);
  rows.put("Hb", "3");
  rows.remove("Ha");
  rows.put("Hc", "4");
  EXPECT_EQ(rows.find("Ha"), std::nullopt);
  EXPECT_EQ(rows.find("Hb"), "3");
  EXPECT_EQ(rows.find("Hc"), "4");
  EXPECT_EQ(rows.find("Hd"), std::nullopt);
}

TEST(Rows, ChangeInTheOrderOfFirstChangeAndOnceEach) {
  const Map committed = {{"Ha", "1"}};
  const MapView view(committed);
  Rows rows(view);
  rows.put("Hz", "1");
  rows.put("Ha", "2");
  rows.put("Hz", "3");
  const auto changes = rows.changes();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].key, "Hz");
  EXPECT_EQ(changes[0].value, "3");
  EXPECT_EQ(changes[1].key, "Ha");
}

TEST(Rows, ThatCameAndWentAreNoChange) {
  const Map committed = {{"Ha", "1"}};
  const MapView view(committed);
  Rows rows(view);
  rows.put("Hz", "1");
  rows.remove("Hz");
  rows.remove("Ha");
  const auto changes = rows.changes();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].key, "Ha");
  EXPECT_EQ(changes[0].value, std::nullopt);
}

TEST(Rows, AScanThatIsToldToEndEnds) {
  const Map committed = {{"Ha", "1"}, {"Hc", "1"}};
  const MapView view(committed);
  Rows rows(view);
  rows.put("Hb", "1");
  rows.put("Hd", "1");
  for (int wanted = 1; wanted <= 4; ++wanted) {
    int seen = 0;
    rows.scan("H", "", 10, [&](std::string_view, std::string_view) { return ++seen < wanted; });
    EXPECT_EQ(seen, wanted);
  }
}

TEST(Rows, AreScannedAsAMapOfBothWouldBe) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return random() % n; };
  const auto any_key = [&] { return std::string(below(2) == 0 ? "H" : "X") + std::to_string(below(30)); };
  for (int round = 0; round < 2000; ++round) {
    Map committed;
    for (std::size_t i = below(12); i > 0; --i) committed[any_key()] = "old";
    const MapView view(committed);
    Rows rows(view);
    Map expected = committed;
    for (std::size_t i = below(12); i > 0; --i) {
      const std::string key = any_key();
      if (below(3) == 0) {
        rows.remove(key);
        expected.erase(key);
      } else {
        rows.put(key, "new" + std::to_string(i));
        expected[key] = "new" + std::to_string(i);
      }
    }
    const std::string prefix = any_key().substr(0, 1 + below(2));
    const std::string cursor = below(2) == 0 ? "" : any_key();
    const std::size_t most = below(9) == 8 ? SIZE_MAX : below(8);
    Map piece;
    for (const auto& [key, value] : expected)
      if (key.starts_with(prefix) && key > cursor && piece.size() < most) piece.emplace(key, value);
    ASSERT_EQ(scanned(rows, prefix, cursor, most), piece) << round;
  }
}

// It changes nothing.
TEST(Rows, MayBeLookedUpByAVisit) {
  Map committed;
  for (int i = 0; i < 100; ++i) committed.emplace("Hc" + std::to_string(100 + i), std::to_string(i));
  const MapView view(committed);
  Rows rows(view);
  for (const char* key : {"Ha0", "Ha1", "Ha2"}) rows.put(key, "a value that has bytes of its own");
  std::vector<std::string> seen;
  rows.scan("Ha", {}, 10, [&](std::string_view key, std::string_view value) {
    for (int i = 0; i < 100; ++i) (void)rows.find("Hc" + std::to_string(100 + i));
    EXPECT_EQ(value, "a value that has bytes of its own");
    seen.emplace_back(key);
    return true;
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"Ha0", "Ha1", "Ha2"}));
}

}  // namespace
}  // namespace reseq::engine
