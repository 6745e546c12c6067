#include "store/partition_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "rows.h"

namespace reseq::store {
namespace {

using testing::HasSubstr;

PartitionStore born() {
  PartitionStore store;
  EXPECT_TRUE(restore_next(store, identity_row().put()).ok());
  return store;
}

TEST(PartitionStore, FindsWhatWasApplied) {
  PartitionStore store = born();
  const Row row = row_of(5, TargetSet(1), TargetSet(2));
  ASSERT_TRUE(restore_next(store, document("a", row).put()).ok());
  EXPECT_EQ(find(store, "a").row, row);
  EXPECT_FALSE(find(store, "b").row.has_value());
  ASSERT_TRUE(restore_next(store, document("a", row).gone()).ok());
  EXPECT_FALSE(find(store, "a").row.has_value());
}

TEST(PartitionStore, FindsIdsThatAreLongerThanAKey) {
  PartitionStore store = born();
  const std::string id(4096, 'x');
  const std::string sibling = std::string(4095, 'x') + "y";
  const Row row = row_of(5, TargetSet(1), TargetSet());
  ASSERT_TRUE(restore_next(store, document(id, row).put()).ok());
  EXPECT_EQ(find(store, id).row, row);
  EXPECT_FALSE(find(store, sibling).row.has_value());
}

TEST(PartitionStore, TellsAnIdWhoseHashBelongsToAnother) {
  PartitionStore store = born();
  const std::string id(600, 'x');
  const std::string other = std::string(599, 'x') + "y";
  commit(store, {forged(id, other, row_of(5, TargetSet(1), TargetSet())).put()});
  EXPECT_TRUE(find(store, id).collision);
}

TEST(PartitionStore, TellsARowWhoseIdCannotHaveItsKey) {
  PartitionStore store = born();
  const std::string id(600, 'x');
  const std::string other = "y" + std::string(599, 'x');
  commit(store, {forged(id, other, row_of(5, TargetSet(1), TargetSet())).put()});
  const auto found = find(store, id);
  EXPECT_FALSE(found.collision);
  EXPECT_FALSE(found.row.has_value());
  ASSERT_TRUE(store.fault().has_value());
  EXPECT_THAT(store.fault()->message, HasSubstr("document row is unreadable"));
}

TEST(PartitionStore, NeedsTheIdentityFirst) {
  PartitionStore store;
  const auto restored = restore_next(store, document("a", row_of(1, TargetSet(1), TargetSet())).put());
  ASSERT_FALSE(restored.ok());
  EXPECT_THAT(restored.error().message, HasSubstr("first record is not the identity"));
  EXPECT_TRUE(store.empty());
}

TEST(PartitionStore, RefusesADamagedRowAndKeepsItsState) {
  PartitionStore store = born();
  Encoded row = document("a", row_of(1, TargetSet(1), TargetSet()));
  row.value[row.value.size() / 2] = static_cast<char>(row.value[row.value.size() / 2] ^ 1);
  const Summary before = store.summary();
  EXPECT_FALSE(restore_next(store, row.put()).ok());
  EXPECT_EQ(store.summary(), before);
  EXPECT_FALSE(restore_next(store, {"short", "x"}).ok());
  EXPECT_FALSE(restore_next(store, {codec::meta_key(), std::nullopt}).ok());
}

TEST(PartitionStore, CountsLiveRowsAndWatermarks) {
  PartitionStore store = born();
  ASSERT_TRUE(restore_next(store, document("a", row_of(1, TargetSet(1), TargetSet())).put()).ok());
  ASSERT_TRUE(restore_next(store, document("b", row_of(1, TargetSet(2), TargetSet(1))).put()).ok());
  EXPECT_EQ(store.summary().counts[Count::kLiveRows], 2U);
  EXPECT_EQ(pending_targets(store), TargetSet(3));
  ASSERT_TRUE(restore_next(store, document("a", row_of(1, TargetSet(), TargetSet(1))).put()).ok());
  EXPECT_EQ(store.summary().counts[Count::kLiveRows], 1U);
  EXPECT_EQ(store.summary().counts[Count::kWatermarks], 1U);
  EXPECT_EQ(pending_targets(store), TargetSet(2));
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
    ASSERT_TRUE(restore_next(long_way, change).ok());
    ASSERT_EQ(long_way.summary(), foretold);
    if (gone) {
      last.erase(id);
    } else {
      last[id] = row;
    }
  }
  PartitionStore compacted = born();
  for (auto row = last.rbegin(); row != last.rend(); ++row)
    ASSERT_TRUE(restore_next(compacted, row->second.put()).ok());
  EXPECT_EQ(compacted.summary(), long_way.summary());

  const std::string& id = last.begin()->first;
  ASSERT_TRUE(restore_next(compacted, document(id, row_of(7777, TargetSet(1), TargetSet())).put()).ok());
  EXPECT_NE(compacted.summary().digest, long_way.summary().digest);
}

TEST(PartitionStore, RemembersIdentityTargetsAndMeta) {
  PartitionStore store = born();
  const Meta meta = meta_of(7);
  ASSERT_TRUE(restore_next(store, targets_row(TargetTable({"search", "catalogue"})).put()).ok());
  ASSERT_TRUE(restore_next(store, meta_row(meta).put()).ok());
  EXPECT_EQ(store.targets().names(), (std::vector<std::string>{"search", "catalogue"}));
  EXPECT_EQ(store.meta(), meta);
  EXPECT_EQ(store.identity(), identity());
}

TEST(PartitionStore, SaysWhereItStands) {
  PartitionStore store = born();
  EXPECT_EQ(store.position(), Offset(1));
  const Encoded meta = meta_row(meta_of(7));
  ASSERT_TRUE(store.restore(meta.put(), Offset(41)).ok());
  EXPECT_EQ(store.checkpoint(), (Checkpoint{Offset(42), store.hash().of_record(meta.key, meta.value), 7}));
  const Encoded row = document("a", live(1));
  ASSERT_TRUE(store.restore(row.gone(), Offset(50)).ok());
  EXPECT_EQ(store.checkpoint(), (Checkpoint{Offset(51), store.hash().of_record(row.key, ""), 0}));
  EXPECT_FALSE(store.restore(row.put(), Offset(50)).ok()) << "a record that was applied before";
  EXPECT_FALSE(find(store, "a").row.has_value());
}

TEST(PartitionStore, SumsUpABirthBeforeItIsApplied) {
  PartitionStore store;
  const Encoded identity = identity_row();
  const Encoded targets = targets_row(TargetTable({"search"}));
  const Encoded meta = meta_row(meta_of(1));
  const std::vector<Change> rows = {identity.put(), targets.put(), meta.put()};
  const Summary foretold = store.after(rows);
  store.apply(rows, foretold, Offset(4));
  PartitionStore restored = born();
  ASSERT_TRUE(restore_next(restored, targets.put()).ok());
  EXPECT_EQ(restored.summary(), foretold);
  EXPECT_EQ(store.rows(), 2U);
  EXPECT_EQ(store.checkpoint()->position, Offset(4));
}

}  // namespace
}  // namespace reseq::store
