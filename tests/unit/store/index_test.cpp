// Rows by the entries of an index, in memory, on disk, and beside timers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rows.h"

namespace reseq::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Found::value_type at(const std::string& entry, const std::string& rank) {
  return {entry, codec::held_key(1, rank)};
}

void put_all(PartitionStore& store, const std::vector<Encoded>& rows) {
  std::vector<Change> changes;
  for (const Encoded& row : rows) changes.push_back(row.put());
  commit(store, changes);
}

std::size_t entries_on_disk(const Place& place) {
  const auto environment = Environment::open(place.folder(), {.map_bytes = 0, .create = false, .on_broken = {}});
  EXPECT_TRUE(environment.ok());
  return environment.value()->entries(Table::kTimers).value();
}

// In memory only, on disk with everything in memory, and with everything on disk.
class Index : public testing::TestWithParam<int> {
 protected:
  Index() {
    if (GetParam() == 0) store_ = std::make_unique<PartitionStore>();
    if (GetParam() != 0) store_ = place_.must_open();
    commit(*store_, {identity_.put()});
  }
  void settle() {
    if (GetParam() != 2) return;
    ASSERT_TRUE(store_->write_checkpoint().ok());
  }
  void put(const std::vector<Encoded>& rows) {
    put_all(*store_, rows);
    settle();
  }
  void remove(const Encoded& row) {
    commit(*store_, {row.gone()});
    settle();
  }

  Place place_{"/dev/shm"};
  Encoded identity_ = identity_row();
  std::unique_ptr<PartitionStore> store_;
};
INSTANTIATE_TEST_SUITE_P(Places, Index, testing::Values(0, 1, 2));

TEST_P(Index, GivesRowsByEntryAndThenByKey) {
  put({held_row("r-2", {{4, "b"}}), held_row("r-1", {{4, "b"}, {4, "a"}}), held_row("r-3", {{4, "\xFF"}, {5, "a"}}),
       held_row("r-4", {})});
  EXPECT_THAT(index_of(*store_, 4), ElementsAre(at("a", "r-1"), at("b", "r-1"), at("b", "r-2"), at("\xFF", "r-3")));
  EXPECT_THAT(index_of(*store_, 4, "b"), ElementsAre(at("b", "r-1"), at("b", "r-2"), at("\xFF", "r-3")));
  EXPECT_THAT(index_of(*store_, 4, "c"), ElementsAre(at("\xFF", "r-3")));
  EXPECT_THAT(index_of(*store_, 5), ElementsAre(at("a", "r-3")));
  EXPECT_THAT(index_of(*store_, 3), IsEmpty());
  EXPECT_THAT(index_of(*store_, 6), IsEmpty());
  EXPECT_THAT(index_of(*store_, 127), IsEmpty());
  EXPECT_FALSE(store_->fault());
}

// One entry is the beginning of another, and what is behind it goes on as the key of a row does.
TEST_P(Index, GivesShorterEntriesFirst) {
  put({held_row("r-2", {{4, "b"}, {4, ""}}), held_row("r-1", {{4, "ab"}, {4, "b"}})});
  put({held_row("r-3", {{4, "a"}, {4, std::string("b\0", 2)}}), held_row("r-4", {{4, "bH"}})});
  const std::string b0("b\0", 2);
  EXPECT_THAT(index_of(*store_, 4), ElementsAre(at("", "r-2"), at("a", "r-3"), at("b", "r-1"), at("b", "r-2"),
                                                at("ab", "r-1"), at(b0, "r-3"), at("bH", "r-4")));
  EXPECT_THAT(index_of(*store_, 4, "b"),
              ElementsAre(at("b", "r-1"), at("b", "r-2"), at("ab", "r-1"), at(b0, "r-3"), at("bH", "r-4")));
  EXPECT_THAT(index_of(*store_, 4, "c"), ElementsAre(at("ab", "r-1"), at(b0, "r-3"), at("bH", "r-4")));
  EXPECT_THAT(index_of(*store_, 4, "bA"), ElementsAre(at("bH", "r-4")));
  EXPECT_FALSE(store_->fault());
}

TEST(IndexDeathTest, IsNotReadFromAnEntryThatNoneCanBe) {
  PartitionStore store;
  const Encoded identity = identity_row();
  commit(store, {identity.put()});
  EXPECT_THAT(index_of(store, 0, std::string(64, 'a')), IsEmpty());
  EXPECT_DEATH((void)index_of(store, 0, std::string(65, 'a')), "limits");
}

TEST_P(Index, EndsWhereItIsTold) {
  put({held_row("r-1", {{0, "a"}}), held_row("r-2", {{0, "b"}}), held_row("r-3", {{0, "c"}})});
  EXPECT_THAT(index_of(*store_, 0, {}, 0), IsEmpty());
  EXPECT_THAT(index_of(*store_, 0, "b", 1), ElementsAre(at("b", "r-2")));
  Found found;
  store_->index(0, {}, 100, [&](std::string_view entry, std::string_view key) {
    found.emplace_back(entry, key);
    return entry != "b";
  });
  EXPECT_THAT(found, ElementsAre(at("a", "r-1"), at("b", "r-2")));
}

TEST_P(Index, KnowsTheEntriesThatARowHasNow) {
  put({held_row("r-1", {{0, "a"}, {0, "b"}}), held_row("r-2", {{0, "a"}}), held_row("r-3", {{0, "c"}, {0, "c"}})});
  put({held_row("r-1", {{0, "b"}, {1, "a"}})});
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("a", "r-2"), at("b", "r-1"), at("c", "r-3")));
  EXPECT_THAT(index_of(*store_, 1), ElementsAre(at("a", "r-1")));
  remove(held_row("r-2", {}));
  remove(held_row("r-3", {}));
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("b", "r-1")));
  put({held_row("r-1", {}), held_row("r-2", {{0, "d"}})});
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("d", "r-2")));
  EXPECT_THAT(index_of(*store_, 1), IsEmpty());
}

TEST_P(Index, AndTimersDoNotSeeEachOther) {
  put({held_row("r-1", {{0, ""}, {127, std::string(64, '\xFF')}}), held_row("r-2", {{0, ""}})});
  EXPECT_EQ(store_->earliest_deadline(), std::nullopt);
  EXPECT_THAT(store_->due(UnixMs(INT64_MAX), 10), IsEmpty());
  put({document("a", live(1, 50)), document("b", live(1, 40)), document("c", live(1, INT64_MAX))});
  EXPECT_EQ(store_->earliest_deadline(), UnixMs(40));
  EXPECT_THAT(store_->due(UnixMs(INT64_MAX), 10), ElementsAre("b", "a", "c"));
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("", "r-1"), at("", "r-2")));
  EXPECT_THAT(index_of(*store_, 127), ElementsAre(at(std::string(64, '\xFF'), "r-1")));
  remove(held_row("r-1", {}));
  remove(held_row("r-2", {}));
  EXPECT_EQ(store_->earliest_deadline(), UnixMs(40));
  put({document("a", watermark(1)), document("b", watermark(1)), document("c", watermark(1))});
  put({held_row("r-1", {{127, "a"}})});
  EXPECT_EQ(store_->earliest_deadline(), std::nullopt);
  EXPECT_THAT(index_of(*store_, 127), ElementsAre(at("a", "r-1")));
  EXPECT_FALSE(store_->fault());
}

// They count as due since 1970: no time is before the timers of a copy.
TEST_P(Index, IsNotDamagedByTimersBefore1970) {
  put({document("a", live(1, -1)), document("b", live(1, INT64_MIN)), document("c", live(1, 5)),
       held_row("r-1", {{127, "\xFF"}, {0, "a"}})});
  EXPECT_EQ(store_->earliest_deadline(), UnixMs(0));
  EXPECT_THAT(store_->due(UnixMs(-1), 10), IsEmpty());
  EXPECT_THAT(store_->due(UnixMs(0), 10), ElementsAre("a", "b"));
  EXPECT_THAT(store_->due(UnixMs(5), 10), ElementsAre("a", "b", "c"));
  EXPECT_THAT(index_of(*store_, 127), ElementsAre(at("\xFF", "r-1")));
  put({document("a", live(1, -2)), document("b", watermark(1, -1)), document("c", live(1, -3))});
  EXPECT_THAT(store_->due(UnixMs(0), 10), ElementsAre("a", "c"));
  remove(document("a", live(1)));
  remove(document("c", live(1)));
  EXPECT_EQ(store_->earliest_deadline(), std::nullopt);
  EXPECT_FALSE(store_->fault());
  if (!store_->on_disk()) return;
  ASSERT_TRUE(store_->close_clean().ok());
  store_.reset();
  EXPECT_EQ(entries_on_disk(place_), 2U) << "of the held record alone";
}

TEST_P(Index, OfRestoredRowsIsThatOfCommittedOnes) {
  ASSERT_TRUE(restore_next(*store_, held_row("r-1", {{0, "a"}}).put()).ok());
  ASSERT_TRUE(restore_next(*store_, held_row("r-2", {{0, "a"}}).put()).ok());
  ASSERT_TRUE(restore_next(*store_, held_row("r-1", {{0, "b"}}).put()).ok());
  settle();
  ASSERT_TRUE(restore_next(*store_, held_row("r-2", {}).gone()).ok());
  settle();
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("b", "r-1")));
  Encoded damaged = held_row("r-1", {{0, "c"}});
  damaged.value.back() = static_cast<char>(damaged.value.back() ^ 1);
  EXPECT_EQ(restore_next(*store_, damaged.put()).error().what_to_do, ErrorClass::kInvalid);
  Encoded no_key = held_row("r-1", {});
  no_key.key.resize(5);
  EXPECT_EQ(restore_next(*store_, no_key.gone()).error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("b", "r-1")));
}

TEST_P(Index, CountsRowsOfEachKindAndTheirBytes) {
  std::vector<Encoded> rows = held("r-1", {{0, "a"}}, 9000);
  ASSERT_EQ(rows.size(), 3U);
  rows.push_back(task("t-1", "note"));
  rows.push_back(task("t-2", "note"));
  put(rows);
  const Counts& counts = store_->summary().counts;
  EXPECT_EQ(counts[Count::kHeldRecords], 1U);
  EXPECT_EQ(counts[Count::kHeldPieces], 2U);
  EXPECT_EQ(counts[Count::kHeldBytes], rows[0].value.size() + rows[1].value.size() + rows[2].value.size());
  EXPECT_EQ(counts[Count::kTasks], 2U);
  EXPECT_EQ(store_->rows(), 6U);
  EXPECT_TRUE(store_->sweep({}, 100, UnixMs(INT64_MAX)).expired_ids.empty());
  EXPECT_EQ(store_->sweep({}, 100, UnixMs(INT64_MAX)).looked_at, 0U) << "it looks at documents alone";
  for (const Encoded& row : rows) remove(row);
  EXPECT_EQ(store_->summary().counts, Counts());
  EXPECT_EQ(store_->rows(), 1U);
}

TEST_P(Index, GivesDocumentsByTheFirstOfTheirLeases) {
  put({document("b", with_journal(live(1), {processing(1, 5, 20)})), held_row("r-1", {{2, "12345678"}}),
       document("a", with_journal(live(1, 7), {waiting(2, 1), processing(1, 5, 300), processing(1, 5, 256)})),
       document("waits", with_journal(Row(), {waiting(1, 5)})), document("plain", live(1, 9))});
  const auto held = Found::value_type("12345678", codec::held_key(1, "r-1"));
  EXPECT_THAT(index_of(*store_, codec::kLeaseIndex), ElementsAre(lease_of(20, "b"), lease_of(256, "a"), held));
  EXPECT_THAT(store_->due(UnixMs(100), 10), ElementsAre("a", "plain"));
  put({document("b", with_journal(live(1), {processing(1, 5, 257)}))});
  remove(held_row("r-1", {}));
  EXPECT_THAT(index_of(*store_, codec::kLeaseIndex), ElementsAre(lease_of(256, "a"), lease_of(257, "b")));
  put({document("a", watermark(1)), document("b", live(1))});
  EXPECT_THAT(index_of(*store_, codec::kLeaseIndex), IsEmpty());
  put({document("b", with_journal(live(1), {processing(1, 5, 20)}))});
  EXPECT_THAT(index_of(*store_, codec::kLeaseIndex), ElementsAre(lease_of(20, "b")));
  remove(document("b", live(1)));
  EXPECT_THAT(index_of(*store_, codec::kLeaseIndex), IsEmpty());
  EXPECT_FALSE(store_->fault());
}

TEST_P(Index, OfDocumentsIsTheSameWhenTheyAreRestored) {
  ASSERT_TRUE(restore_next(*store_, document("a", with_journal(live(1), {processing(1, 5, 20)})).put()).ok());
  ASSERT_TRUE(restore_next(*store_, document("b", with_journal(live(1), {processing(1, 5, 20)})).put()).ok());
  settle();
  ASSERT_TRUE(restore_next(*store_, document("a", with_journal(live(1), {processing(1, 5, 21)})).put()).ok());
  ASSERT_TRUE(restore_next(*store_, document("b", live(1)).put()).ok());
  EXPECT_THAT(index_of(*store_, codec::kLeaseIndex), ElementsAre(lease_of(21, "a")));
  settle();
  EXPECT_THAT(index_of(*store_, codec::kLeaseIndex), ElementsAre(lease_of(21, "a")));
}

TEST_P(Index, IsForgottenByAWipe) {
  put({held_row("r-1", {{0, "a"}})});
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("a", "r-1")));
  ASSERT_TRUE(store_->wipe().ok());
  EXPECT_THAT(index_of(*store_, 0), IsEmpty());
  commit(*store_, {identity_.put()});
  EXPECT_THAT(index_of(*store_, 0), IsEmpty());
  put({held_row("r-2", {{0, "b"}})});
  EXPECT_THAT(index_of(*store_, 0), ElementsAre(at("b", "r-2")));
}

TEST(IndexOnDisk, IsThereAfterAReopenAndLeavesNothingBehind) {
  const Place place;
  auto store = place.must_open();
  const Encoded identity = identity_row();
  commit(*store, {identity.put()});
  put_all(*store, held("r-1", {{0, "a"}, {1, "b"}}, 9000));
  put_all(*store, {held_row("r-2", {{0, "a"}}), task("t-1", "note"), document("doc", live(1, 5))});
  const Summary summary = store->summary();
  ASSERT_TRUE(store->close_clean().ok());
  store.reset();
  EXPECT_EQ(entries_on_disk(place), 4U);
  store = place.must_open();
  EXPECT_EQ(store->summary(), summary);
  EXPECT_EQ(store->rows(), 7U);
  EXPECT_THAT(index_of(*store, 0), ElementsAre(at("a", "r-1"), at("a", "r-2")));
  EXPECT_THAT(index_of(*store, 1), ElementsAre(at("b", "r-1")));
  put_all(*store, {held_row("r-1", {{1, "b"}})});
  commit(*store, {held_row("r-2", {}).gone(), document("doc", live(1)).gone()});
  ASSERT_TRUE(store->close_clean().ok());
  store.reset();
  EXPECT_EQ(entries_on_disk(place), 1U);
  store = place.must_open();
  EXPECT_THAT(index_of(*store, 0), IsEmpty());
  EXPECT_THAT(index_of(*store, 1), ElementsAre(at("b", "r-1")));
}

TEST(IndexOnDisk, OfLeasesAndTheirPrioritiesAreThereAfterAReopen) {
  const Place place;
  auto store = place.must_open();
  const Encoded identity = identity_row();
  commit(*store, {identity.put()});
  put_all(*store, {document("a", with_journal(live(1), {waiting(2, 7), processing(1, 5, 20)})),
                   document("b", with_journal(Row(), {waiting(1, 200)})), document("c", live(1, 5))});
  const Summary summary = store->summary();
  EXPECT_EQ(summary.priorities, (std::vector<PriorityCount>{{5, 0, 1}, {7, 1, 0}, {200, 1, 0}}));
  ASSERT_TRUE(store->close_clean().ok());
  store.reset();
  EXPECT_EQ(entries_on_disk(place), 2U) << "a lease, and a timer";
  store = place.must_open();
  EXPECT_EQ(store->summary(), summary);
  EXPECT_THAT(index_of(*store, codec::kLeaseIndex), ElementsAre(lease_of(20, "a")));
  commit(*store, {document("a", live(1)).gone(), document("b", live(1)).gone()});
  EXPECT_EQ(store->summary().priorities, std::vector<PriorityCount>());
  ASSERT_TRUE(store->close_clean().ok());
  store.reset();
  EXPECT_EQ(entries_on_disk(place), 1U);
}

// What was asked of it is decided by the log alone, not by what a checkpoint has already written.
TEST(IndexOnDisk, HasOneOrderWhateverIsInMemory) {
  const std::vector<Encoded> rows = {held_row("r-1", {{0, "9"}}), held_row("r-2", {{0, "10"}}),
                                     held_row("r-3", {{0, "1"}})};
  for (std::size_t on_disk = 0; on_disk < 8; ++on_disk) {
    const Place place("/dev/shm");
    auto store = place.must_open();
    const Encoded identity = identity_row();
    commit(*store, {identity.put()});
    for (std::size_t i = 0; i < rows.size(); ++i)
      if ((on_disk >> i & 1U) != 0) put_all(*store, {rows[i]});
    ASSERT_TRUE(store->write_checkpoint().ok());
    for (std::size_t i = 0; i < rows.size(); ++i)
      if ((on_disk >> i & 1U) == 0) put_all(*store, {rows[i]});
    EXPECT_THAT(index_of(*store, 0), ElementsAre(at("1", "r-3"), at("9", "r-1"), at("10", "r-2"))) << on_disk;
  }
}

// What memory hides is walked over once, and looked at again when a checkpoint has written it.
TEST(IndexOnDisk, IsReadBehindWhatMemoryHides) {
  const Place place;
  auto store = place.must_open();
  const Encoded identity = identity_row();
  commit(*store, {identity.put()});
  put_all(*store, {held_row("r-1", {{0, "a"}}), held_row("r-2", {{0, "b"}}), held_row("r-3", {{0, "c"}})});
  ASSERT_TRUE(store->write_checkpoint().ok());
  for (const std::string rank : {"r-1", "r-2"}) {
    commit(*store, {held_row(rank, {}).gone()});
    EXPECT_EQ(index_of(*store, 0).size(), rank == "r-1" ? 2U : 1U);
    EXPECT_THAT(index_of(*store, 0, "c"), ElementsAre(at("c", "r-3")));
  }
  put_all(*store, {held_row("r-2", {{0, "d"}})});
  EXPECT_THAT(index_of(*store, 0), ElementsAre(at("c", "r-3"), at("d", "r-2")));
  put_all(*store, {held_row("r-3", {})});
  EXPECT_THAT(index_of(*store, 0), ElementsAre(at("d", "r-2")));
  put_all(*store, {held_row("r-1", {{0, "a"}})});
  EXPECT_THAT(index_of(*store, 0), ElementsAre(at("a", "r-1"), at("d", "r-2")));
  ASSERT_TRUE(store->write_checkpoint().ok());
  EXPECT_THAT(index_of(*store, 0), ElementsAre(at("a", "r-1"), at("d", "r-2")));
  EXPECT_THAT(index_of(*store, 0, "b"), ElementsAre(at("d", "r-2")));
}

}  // namespace
}  // namespace reseq::store
