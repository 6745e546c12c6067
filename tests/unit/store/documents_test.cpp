// Documents read in order, piece by piece: from memory and disk together, by prefix, with keys of long ids.
#include <gtest/gtest.h>

#include "rows.h"

namespace reseq::store {
namespace {

using Which = PartitionStore::Which;

constexpr std::size_t kAllRows = 1'000'000;

class Documents : public testing::Test {
 protected:
  Documents() : store_(place_.must_open()) { commit(*store_, {identity_row().put(), meta_row(meta_of(1)).put()}); }

  void put(const std::string& id, const Row& row) { commit(*store_, {document(id, row).put()}); }
  void to_disk() { ASSERT_TRUE(store_->write_checkpoint().ok()); }

  // All ids, in pieces of so many rows; each piece goes on where the one before ended.
  std::vector<std::string> ids(const std::string& key_prefix, Which which, std::size_t rows) {
    std::vector<std::string> found;
    std::string cursor;
    for (int pieces = 0; pieces < 1000; ++pieces) {
      const auto walked = store_->documents(cursor, key_prefix, which, rows, [&](std::string id, const Row&) {
        found.push_back(std::move(id));
        return true;
      });
      if (walked.ended) return found;
      EXPECT_LE(walked.looked_at, rows);
      cursor = walked.cursor;
    }
    ADD_FAILURE() << "it does not end";
    return found;
  }

  Place place_;
  std::unique_ptr<PartitionStore> store_;
};

using Ids = std::vector<std::string>;

TEST_F(Documents, AreReadInOrderFromMemoryAndDiskTogether) {
  put("b", live(1));
  put("d", watermark(1));
  to_disk();
  put("a", live(1));
  put("c", live(1));
  put("d", live(2));
  for (const std::size_t rows : {std::size_t{1}, std::size_t{2}, kAllRows})
    EXPECT_EQ(ids({}, Which::kAll, rows), (Ids{"a", "b", "c", "d"})) << rows;
}

TEST_F(Documents, ThatAreGoneAreNotThere) {
  put("a", live(1));
  put("b", live(1));
  to_disk();
  commit(*store_, {document("a", live(1)).gone()});
  EXPECT_EQ(ids({}, Which::kAll, 1), (Ids{"b"}));
}

TEST_F(Documents, ThatWaitForNothingCanBePassedOver) {
  put("a", watermark(1));
  put("b", live(1));
  to_disk();
  put("c", watermark(1));
  EXPECT_EQ(ids({}, Which::kLive, 1), (Ids{"b"}));
}

TEST_F(Documents, AreFoundByTheBeginningOfTheirIds) {
  const std::string zero("a\0", 2);
  const std::string longer = "a" + std::string(600, 'x');
  for (const std::string& id :
       {std::string("a"), std::string("ab"), zero, zero + "b", std::string("b"), longer, "b" + std::string(600, 'x')})
    put(id, live(1));
  to_disk();
  put("aa", live(1));
  const auto [raw, hashed] = codec::document_key_prefixes("a");
  EXPECT_EQ(ids(raw, Which::kAll, 2), (Ids{"a", zero, zero + "b", "aa", "ab"}));
  EXPECT_EQ(ids(hashed, Which::kAll, 2), (Ids{longer}));
  const auto of_zero = codec::document_key_prefixes(zero);
  EXPECT_EQ(ids(of_zero[0], Which::kAll, 2), (Ids{zero, zero + "b"}));
}

TEST_F(Documents, EndAtTheOneThatIsEnough) {
  for (const char* id : {"a", "b", "c"}) put(id, live(1));
  Ids found;
  const auto first = store_->documents({}, {}, Which::kAll, kAllRows, [&](std::string id, const Row&) {
    found.push_back(std::move(id));
    return found.size() < 2;
  });
  EXPECT_EQ(found, (Ids{"a", "b"}));
  EXPECT_FALSE(first.ended);
  const auto rest = store_->documents(first.cursor, {}, Which::kAll, kAllRows, [&](std::string id, const Row&) {
    found.push_back(std::move(id));
    return true;
  });
  EXPECT_EQ(found, (Ids{"a", "b", "c"}));
  EXPECT_TRUE(rest.ended);
}

TEST_F(Documents, LookedAtNoneStandWhereTheyStood) {
  put("a", live(1));
  const auto walked = store_->documents("D", {}, Which::kAll, 0, [](const std::string&, const Row&) { return true; });
  EXPECT_FALSE(walked.ended);
  EXPECT_EQ(walked.cursor, "D");
}

TEST_F(Documents, GiveTheFileASize) {
  for (int i = 0; i < 2000; ++i) put("document-" + std::to_string(i), live(1));
  to_disk();
  const auto full = store_->disk_size();
  ASSERT_TRUE(full);
  EXPECT_GT(full->file_bytes, 100'000U);
  EXPECT_LT(full->free_bytes, full->file_bytes);
  for (int i = 0; i < 2000; ++i) commit(*store_, {document("document-" + std::to_string(i), live(1)).gone()});
  to_disk();
  const auto emptied = store_->disk_size();
  ASSERT_TRUE(emptied);
  EXPECT_GT(emptied->free_bytes, full->free_bytes + 100'000);
}

}  // namespace
}  // namespace reseq::store
