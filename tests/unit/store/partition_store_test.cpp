#include "store/partition_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "changelog/batch_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"

namespace reseq::store {
namespace {

using testing::HasSubstr;

struct Encoded {
  std::string key, value;
  [[nodiscard]] Change put() const { return {key, value}; }
  [[nodiscard]] Change gone() const { return {key, std::nullopt}; }
};

Identity identity(std::uint8_t seed = 1) {
  Identity made;
  made.application_id = "shop";
  made.partitions = 4;
  made.hash_key.bytes.fill(seed);
  return made;
}

Encoded identity_row(std::uint8_t seed = 1) {
  Encoded row{std::string(codec::identity_key()), ""};
  codec::encode_identity(row.key, identity(seed), row.value);
  return row;
}

Row row_of(std::uint64_t sequence, TargetSet pending, TargetSet served) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[7 - i] = static_cast<char>(sequence >> (8 * i));
  Row row;
  row.groups.push_back({Order{Epoch(0), Sequence(bytes), Revision(0)}, true, pending, served, TargetSet()});
  return row;
}

Encoded document(const std::string& id, const Row& row) {
  Encoded made;
  codec::append_document_key(id, codec::KeyedHash(identity().hash_key), made.key);
  codec::encode_row(made.key, id, row, made.value);
  return made;
}

PartitionStore born() {
  PartitionStore store;
  EXPECT_TRUE(store.restore(identity_row().put()).ok());
  return store;
}

TEST(PartitionStore, FindsWhatWasApplied) {
  PartitionStore store = born();
  const Row row = row_of(5, TargetSet(1), TargetSet(2));
  ASSERT_TRUE(store.restore(document("a", row).put()).ok());
  EXPECT_EQ(store.find("a").row, row);
  EXPECT_FALSE(store.find("b").row.has_value());
  ASSERT_TRUE(store.restore(document("a", row).gone()).ok());
  EXPECT_FALSE(store.find("a").row.has_value());
}

TEST(PartitionStore, FindsIdsThatAreLongerThanAKey) {
  PartitionStore store = born();
  const std::string id(4096, 'x');
  const std::string sibling = std::string(4095, 'x') + "y";
  const Row row = row_of(5, TargetSet(1), TargetSet());
  ASSERT_TRUE(store.restore(document(id, row).put()).ok());
  EXPECT_EQ(store.find(id).row, row);
  EXPECT_FALSE(store.find(sibling).row.has_value());
}

TEST(PartitionStore, TellsAnIdWhoseHashBelongsToAnother) {
  PartitionStore store = born();
  const std::string id(600, 'x');
  const std::string other = std::string(599, 'x') + "y";
  Encoded forged;  // the row of `other` under the key of `id`: what a 128-bit collision would look like
  codec::append_document_key(id, codec::KeyedHash(identity().hash_key), forged.key);
  codec::encode_row(forged.key, other, row_of(5, TargetSet(1), TargetSet()), forged.value);
  store.apply(forged.put());
  EXPECT_TRUE(store.find(id).collision);
}

TEST(PartitionStore, NeedsTheIdentityFirst) {
  PartitionStore store;
  const auto restored = store.restore(document("a", row_of(1, TargetSet(1), TargetSet())).put());
  ASSERT_FALSE(restored.ok());
  EXPECT_THAT(restored.error().message, HasSubstr("first record is not the identity"));
  EXPECT_TRUE(store.empty());
}

TEST(PartitionStore, RefusesADamagedRowAndKeepsItsState) {
  PartitionStore store = born();
  Encoded row = document("a", row_of(1, TargetSet(1), TargetSet()));
  row.value[row.value.size() / 2] = static_cast<char>(row.value[row.value.size() / 2] ^ 1);
  const Summary before = store.summary();
  EXPECT_FALSE(store.restore(row.put()).ok());
  EXPECT_EQ(store.summary(), before);
  EXPECT_FALSE(store.restore({"short", "x"}).ok());
  EXPECT_FALSE(store.restore({codec::meta_key(), std::nullopt}).ok());
}

TEST(PartitionStore, CountsLiveRowsAndWatermarks) {
  PartitionStore store = born();
  ASSERT_TRUE(store.restore(document("a", row_of(1, TargetSet(1), TargetSet())).put()).ok());
  ASSERT_TRUE(store.restore(document("b", row_of(1, TargetSet(2), TargetSet(1))).put()).ok());
  EXPECT_EQ(store.summary().live_rows, 2U);
  EXPECT_EQ(store.pending_targets(), TargetSet(3));
  ASSERT_TRUE(store.restore(document("a", row_of(1, TargetSet(), TargetSet(1))).put()).ok());
  EXPECT_EQ(store.summary().live_rows, 1U);
  EXPECT_EQ(store.summary().watermarks, 1U);
  EXPECT_EQ(store.pending_targets(), TargetSet(2));
}

// The digest says what is in the state, not how it came to be: any history that ends in the same rows, a compacted one
// among them, has the same digest; one changed bit has another.
TEST(PartitionStore, HasADigestOfItsRowsWhateverTheirHistory) {
  std::mt19937_64 random(20260101);
  PartitionStore long_way = born();
  std::map<std::string, Encoded> last;
  for (int i = 0; i < 5000; ++i) {
    const std::string id = "doc-" + std::to_string(random() % 200);
    const Encoded row = document(id, row_of(random() % 1000, TargetSet(random() % 4), TargetSet(4)));
    const bool gone = random() % 5 == 0;
    const Change change = gone ? row.gone() : row.put();
    const Summary foretold = long_way.after(std::span(&change, 1));
    ASSERT_TRUE(long_way.restore(change).ok());
    ASSERT_EQ(long_way.summary(), foretold);
    if (gone) {
      last.erase(id);
    } else {
      last[id] = row;
    }
  }
  PartitionStore compacted = born();
  for (auto row = last.rbegin(); row != last.rend(); ++row) ASSERT_TRUE(compacted.restore(row->second.put()).ok());
  EXPECT_EQ(compacted.summary(), long_way.summary());

  const std::string& id = last.begin()->first;
  ASSERT_TRUE(compacted.restore(document(id, row_of(7777, TargetSet(1), TargetSet())).put()).ok());
  EXPECT_NE(compacted.summary().digest, long_way.summary().digest);
}

TEST(PartitionStore, RemembersIdentityTargetsAndMeta) {
  PartitionStore store = born();
  Arena arena;
  Meta meta;
  meta.now = UnixMs(5);
  meta.positions = {{Role::kRequests, Offset(3)}};
  ASSERT_TRUE(store.restore(changelog::targets_row(TargetTable({"search", "catalogue"}), arena)).ok());
  ASSERT_TRUE(store.restore(changelog::meta_row(meta, arena)).ok());
  EXPECT_EQ(store.targets().names(), (std::vector<std::string>{"search", "catalogue"}));
  EXPECT_EQ(store.meta(), meta);
  EXPECT_EQ(store.identity(), identity());
}

}  // namespace
}  // namespace reseq::store
