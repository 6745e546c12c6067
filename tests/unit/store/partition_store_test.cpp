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

// Of what was never dispatched only its entry knows; nobody waits for what is gone.
TEST(PartitionStore, HasATargetPendingThatOnlyWhatWaitsForItsDispatchNames) {
  PartitionStore store = born();
  JournalEntry waits = waiting(2, 100);
  waits.targets = TargetSet(4);
  JournalEntry gone = entry_of(EntryState::kGone, 3, 100);
  gone.targets = TargetSet(8);
  ASSERT_TRUE(restore_next(store, document("a", with_journal(watermark(1), {waits, gone})).put()).ok());
  EXPECT_EQ(pending_targets(store), TargetSet(4));
}

TEST(PartitionStore, CountsWhatWaitsAndIsUnderWayByTheMostUrgentPriorityOfEach) {
  PartitionStore store = born();
  const auto restore = [&](const std::string& id, const Row& row) {
    ASSERT_TRUE(restore_next(store, document(id, row).put()).ok());
  };
  restore("a", with_journal(Row(), {waiting(1, 200), waiting(2, 100), waiting(3, 101)}));
  restore("b", with_journal(live(1), {waiting(2, 255), processing(1, 100, 5), processing(1, 7)}));
  restore("c", with_journal(watermark(1), {entry_of(EntryState::kGone, 2, 3)}));
  const Summary& summary = store.summary();
  EXPECT_EQ(summary.counts[Count::kLiveRows], 2U) << "one of them has nothing pending";
  EXPECT_EQ(summary.counts[Count::kWatermarks], 1U);
  EXPECT_EQ(summary.counts[Count::kWaiting], 2U);
  EXPECT_EQ(summary.counts[Count::kProcessing], 1U);
  EXPECT_EQ(summary.priorities, (std::vector<PriorityCount>{{7, 0, 1}, {100, 1, 0}, {255, 1, 0}}));
  EXPECT_EQ(store.rows(), 4U) << "none counts twice";
  restore("b", with_journal(live(1), {processing(1, 100)}));
  EXPECT_EQ(summary.priorities, (std::vector<PriorityCount>{{100, 1, 1}}));
  ASSERT_TRUE(restore_next(store, document("a", Row()).gone()).ok());
  restore("b", watermark(1));
  EXPECT_EQ(summary.priorities, std::vector<PriorityCount>());
  EXPECT_FALSE(summary.counts.any_rare());
}

TEST(PartitionStore, ForetellsPrioritiesOfDocumentsThatWereLookedUp) {
  PartitionStore store = born();
  commit(store, {document("a", with_journal(live(1), {waiting(2, 9), processing(1, 5)})).put()});
  const BatchView view(store);
  const LookedUp& known = view.at(view.find("a").place);
  ASSERT_TRUE(known.old.has_value());
  EXPECT_EQ(known.old->priorities, (DocumentPriorities{9, 5}));
  const Encoded next = document("a", with_journal(live(1), {processing(1, 6)}));
  const std::vector<Change> changes = {{next.key, next.value, &known}};
  const Summary foretold = store.after(changes);
  EXPECT_EQ(foretold.priorities, (std::vector<PriorityCount>{{6, 0, 1}}));
  ASSERT_TRUE(restore_next(store, next.put()).ok());
  EXPECT_EQ(store.summary(), foretold);
}

TEST(PartitionStore, PassesOverWhatNeitherWaitsNorIsPendingWhenLiveDocumentsAreAskedFor) {
  PartitionStore store = born();
  commit(store, {document("a", with_journal(Row(), {waiting(1, 9)})).put(), document("b", watermark(1, 7)).put(),
                 document("c", with_journal(watermark(1, 7), {entry_of(EntryState::kGone, 2, 3)})).put(),
                 document("d", with_journal(watermark(1), {waiting(2, 9)})).put()});
  std::vector<std::string> live_ids;
  store.documents({}, {}, PartitionStore::Which::kLive, 100, [&](const std::string& id, const Row&) {
    live_ids.push_back(id);
    return true;
  });
  EXPECT_EQ(live_ids, (std::vector<std::string>{"a", "d"}));
  EXPECT_EQ(store.sweep({}, 100, UnixMs(7)).expired_ids, (std::vector<std::string>{"b", "c"}));
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
