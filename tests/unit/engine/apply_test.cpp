// Apply: invariants of rows, and the edges that the tables do not show.
#include "engine/documents/apply.h"

#include <gtest/gtest.h>

#include "engine/standing.h"
#include "map_state.h"

namespace reseq::engine {
namespace {

RowEdit moves(std::uint64_t number, TargetSet to) {
  RowEdit edit;
  edit.order = order_of(number);
  edit.moved = to;
  return edit;
}

RowEdit serves(std::uint64_t number, TargetNumber t, std::uint64_t version) {
  RowEdit edit;
  edit.order = order_of(number);
  edit.served = t;
  edit.version = Version(version);
  return edit;
}

std::optional<UnixMs> waits_since(const Row& row, TargetNumber t) {
  for (const Since& since : row.since)
    if (since.targets.contains(t)) return since.first_registered;
  return std::nullopt;
}

TEST(Apply, ATargetThatMovesOnLeavesOnlyItsLastReleaseBehind) {
  const Context context = two_targets();
  std::optional<Row> row;
  apply(moves(1, targets({kSearch, kCatalogue})), context, row);
  apply(serves(1, kSearch, 10), context, row);
  apply(moves(2, targets({kSearch, kCatalogue})), context, row);
  ASSERT_EQ(row->groups.size(), 2U);
  EXPECT_EQ(row->groups[1].known(), targets({kSearch}));
  EXPECT_EQ(*last_release(*row, kSearch), order_of(1));
  EXPECT_EQ(last_release(*row, kCatalogue), nullptr);
  apply(serves(2, kSearch, 11), context, row);
  EXPECT_EQ(row->groups.size(), 1U);
  EXPECT_EQ(row->last_version, Version(11));
}

TEST(Apply, WaitingTargetsKeepTheTimeOfTheirFirstRegistrationUntilTheirRelease) {
  Context context = two_targets();
  std::optional<Row> row;
  apply(moves(1, targets({kSearch})), context, row);
  context.now = UnixMs(2000);
  apply(moves(2, targets({kSearch, kCatalogue})), context, row);
  context.now = UnixMs(3000);
  apply(moves(3, targets({kSearch, kCatalogue})), context, row);
  EXPECT_EQ(waits_since(*row, kSearch), UnixMs(1000));
  EXPECT_EQ(waits_since(*row, kCatalogue), UnixMs(2000));
  apply(serves(3, kSearch, 1), context, row);
  EXPECT_EQ(waits_since(*row, kSearch), std::nullopt);
  EXPECT_EQ(row->since.size(), 1U);
  RowEdit removal;
  removal.order = order_of(3);
  removal.removed = targets({kCatalogue});
  apply(removal, context, row);
  EXPECT_TRUE(row->since.empty());
}

TEST(Apply, ANoteOfAnOlderRequestKeepsTheNewest) {
  const Context context = two_targets();
  std::optional<Row> row;
  RowEdit edit = moves(5, targets({kSearch}));
  edit.requested = Accepted{Offset(1), PayloadHash(1), targets({kSearch})};
  apply(edit, context, row);
  edit = moves(4, targets({kCatalogue}));
  edit.requested = Accepted{Offset(2), PayloadHash(2), targets({kCatalogue})};
  apply(edit, context, row);
  EXPECT_EQ(row->requested->order, order_of(5));
  EXPECT_TRUE(row->groups[0].requested);
  EXPECT_TRUE(row->groups[1].requested);
}

// Every target alone at its own order, each with an older last release: as many groups as a row can have.
TEST(Apply, ARowTakesTwoGroupsForEachOf64Targets) {
  const Context context = two_targets();
  std::optional<Row> row;
  for (std::uint8_t i = 0; i < kMaxTargets; ++i) {
    apply(moves(100 + i, TargetSet::of(TargetNumber(i))), context, row);
    apply(serves(100 + i, TargetNumber(i), i + 1), context, row);
  }
  for (std::uint8_t i = 0; i < kMaxTargets; ++i) apply(moves(200 + i, TargetSet::of(TargetNumber(i))), context, row);
  EXPECT_EQ(row->groups.size(), 2 * kMaxTargets);
  EXPECT_EQ(row->known().size(), 64);
}

using InvariantsDeathTest = testing::Test;

Group group(std::uint64_t number, TargetSet pending, TargetSet served = {}) {
  Group group;
  group.order = order_of(number);
  group.pending = pending;
  group.served = served;
  return group;
}

TEST(InvariantsDeathTest, OfABrokenRowEndTheProcess) {
  Row row;
  row.groups = {group(1, targets({kSearch})), group(2, targets({kCatalogue}))};
  EXPECT_DEATH(check_invariants(row), "groups out of order");
  row.groups = {group(2, {})};
  EXPECT_DEATH(check_invariants(row), "a group without a target");
  row.groups = {group(2, targets({kSearch}), targets({kSearch}))};
  EXPECT_DEATH(check_invariants(row), "two states");
  row.groups = {group(2, targets({kSearch})), group(1, targets({kSearch}))};
  EXPECT_DEATH(check_invariants(row), "left behind");
  row.groups = {group(2, {}, targets({kSearch})), group(1, {}, targets({kSearch}))};
  EXPECT_DEATH(check_invariants(row), "two last releases");
  row.groups = {group(2, targets({kSearch}))};
  row.barrier = order_of(3);
  EXPECT_DEATH(check_invariants(row), "below the barrier");
}

TEST(Apply, KnowsThatTheLastReleaseOfATargetWasADeleteAndWhen) {
  Context context = two_targets();
  std::optional<Row> row;
  apply(moves(1, targets({kSearch, kCatalogue})), context, row);
  RowEdit erasing = serves(1, kSearch, 10);
  erasing.deletes = true;
  context.now = UnixMs(2000);
  apply(erasing, context, row);
  apply(serves(1, kCatalogue, 11), context, row);
  ASSERT_NE(row->deletion_of(kSearch), nullptr);
  EXPECT_EQ(row->deletion_of(kSearch)->at, UnixMs(2000));
  EXPECT_EQ(row->deletion_of(kCatalogue), nullptr);
  apply(moves(2, targets({kSearch})), context, row);
  EXPECT_NE(row->deletion_of(kSearch), nullptr) << "it is what the target has while it waits";
  apply(serves(2, kSearch, 12), context, row);
  EXPECT_TRUE(row->deletions.empty());
}

// A version that does not know of deletions releases, and leaves them as they are.
TEST(Apply, LeavesNoDeletionBehindThatAnOlderVersionHasOvertaken) {
  const Context context = two_targets();
  std::optional<Row> row;
  apply(moves(1, targets({kSearch, kCatalogue})), context, row);
  apply(serves(1, kSearch, 10), context, row);
  row->deletions.push_back({kSearch, order_of(0), UnixMs(1000)});
  EXPECT_EQ(row->deletion_of(kSearch), nullptr);
  apply(serves(1, kCatalogue, 11), context, row);
  EXPECT_TRUE(row->deletions.empty());
}

TEST(Apply, KnowsWhenATargetGotSomethingWhileItWentOnWaiting) {
  Context context = two_targets();
  context.registration_timeout = Milliseconds(500);
  std::optional<Row> row;
  apply(moves(1, targets({kSearch, kCatalogue})), context, row);
  apply(moves(3, targets({kSearch, kCatalogue})), context, row);
  EXPECT_EQ(row->deadline, UnixMs(1500));
  context.now = UnixMs(1200);
  apply(serves(1, kSearch, 10), context, row);
  apply(serves(1, kCatalogue, 11), context, row);
  EXPECT_EQ(row->meanwhile, (RareList<Meanwhile>{{targets({kSearch, kCatalogue}), UnixMs(1200)}}));
  EXPECT_EQ(waits_since(*row, kSearch), UnixMs(1000)) << "it starves for as long as it has waited";
  context.now = UnixMs(1400);
  apply(serves(2, kSearch, 12), context, row);
  EXPECT_EQ(row->without_release_since(), UnixMs(1200));
  EXPECT_EQ(row->deadline, UnixMs(1700));
  apply(serves(3, kCatalogue, 13), context, row);
  EXPECT_EQ(row->deadline, UnixMs(1900));
  apply(serves(3, kSearch, 14), context, row);
  EXPECT_TRUE(row->meanwhile.empty());
}

TEST(Apply, WhatIsReleasedWithinTheMillisecondOfItsRegistrationNeedsNoNote) {
  const Context context = two_targets();
  std::optional<Row> row;
  apply(moves(2, targets({kSearch})), context, row);
  apply(serves(1, kSearch, 10), context, row);
  EXPECT_TRUE(row->meanwhile.empty());
}

TEST(Apply, NotesWithWhichOrderAWaitBeganWhenANewerOneOvertakesIt) {
  Context context = two_targets();
  context.starvation_after = Milliseconds(500);
  std::optional<Row> row;
  apply(moves(3, targets({kSearch})), context, row);
  EXPECT_TRUE(row->overtaken.empty());
  context.now = UnixMs(1100);
  apply(moves(5, targets({kSearch, kCatalogue})), context, row);
  const RareList<Overtaken> began{{targets({kSearch}), order_of(3), UnixMs(1000)}};
  EXPECT_EQ(row->overtaken, began);
  apply(serves(4, kSearch, 10), context, row);
  EXPECT_EQ(row->overtaken, began) << "it goes on waiting";
  context.now = UnixMs(1200);
  apply(moves(7, targets({kSearch, kCatalogue})), context, row);
  EXPECT_EQ(row->overtaken, (RareList<Overtaken>{{targets({kSearch}), order_of(3), UnixMs(1000)},
                                                 {targets({kCatalogue}), order_of(5), UnixMs(1100)}}));
  apply(serves(7, kSearch, 11), context, row);
  EXPECT_EQ(row->overtaken_of(kSearch), nullptr);
  ASSERT_NE(row->overtaken_of(kCatalogue), nullptr);
  apply(serves(7, kCatalogue, 12), context, row);
  EXPECT_TRUE(row->overtaken.empty());
}

TEST(Apply, BeginsAWaitAnewWithAnotherEpochAndWithAReprocess) {
  Context context = two_targets();
  context.starvation_after = Milliseconds(500);
  std::optional<Row> row;
  apply(moves(3, targets({kSearch})), context, row);
  apply(moves(5, targets({kSearch})), context, row);
  RowEdit again = moves(5, targets({kSearch}));
  again.order.revision = Revision(1);
  apply(again, context, row);
  EXPECT_TRUE(row->overtaken.empty());
  apply(moves(6, targets({kSearch})), context, row);
  EXPECT_EQ(row->overtaken, (RareList<Overtaken>{{targets({kSearch}), again.order, UnixMs(1000)}}));
  RowEdit other_epoch = moves(1, targets({kSearch}));
  other_epoch.order.epoch = Epoch(1);
  apply(other_epoch, context, row);
  EXPECT_TRUE(row->overtaken.empty());
}

// What an older version has left behind of a wait that is over does not count for the next one.
TEST(Apply, TakesNoBeginOfAnEarlierWaitForThatOfThisOne) {
  Context context = two_targets();
  context.starvation_after = Milliseconds(500);
  std::optional<Row> row;
  apply(moves(3, targets({kSearch})), context, row);
  row->overtaken.push_back({targets({kSearch}), order_of(1), UnixMs(900)});
  EXPECT_EQ(row->overtaken_of(kSearch), nullptr);
  apply(moves(4, targets({kSearch})), context, row);
  EXPECT_EQ(row->overtaken, (RareList<Overtaken>{{targets({kSearch}), order_of(3), UnixMs(1000)}}));
}

TEST(Apply, NotesNoBeginOfAWaitWhereNothingStarvesAndDropsWhatWasNoted) {
  Context context = two_targets();
  std::optional<Row> row;
  apply(moves(3, targets({kSearch})), context, row);
  apply(moves(4, targets({kSearch})), context, row);
  EXPECT_TRUE(row->overtaken.empty());
  context.starvation_after = Milliseconds(500);
  apply(moves(5, targets({kSearch})), context, row);
  EXPECT_FALSE(row->overtaken.empty());
  context.starvation_after = Milliseconds(0);
  apply(moves(6, targets({kSearch})), context, row);
  EXPECT_TRUE(row->overtaken.empty());
}

}  // namespace
}  // namespace reseq::engine
