#include "runtime/worker/chores.h"

#include <gtest/gtest.h>

#include "changelog/batch_rows.h"
#include "codec/hash.h"
#include "tests/support/changelog_rows.h"

namespace reseq::runtime {
namespace {

constexpr UnixMs kNow{1'700'000'000'000};
constexpr UnixMs kLater{kNow.value() + 1'000'000};

config::Settings shop_settings() {
  config::Settings made;
  made.application_id = "shop";
  made.targets = {{.name = "search"}};
  return made;
}

std::vector<InputPosition> positions(std::int64_t requests, std::int64_t control, std::int64_t commands) {
  return {{Role::kRequests, Offset(requests)}, {Role::kControl, Offset(control)}, {Role::kCommands, Offset(commands)}};
}

class Chore : public ::testing::Test {
 protected:
  Chore() : application_(shop_settings()), chores_(application_) {
    application_.delete_retention = Milliseconds(4'000'000);
    Identity identity;
    identity.application_id = "shop";
    identity.cluster_id = "cluster";
    identity.partitions = 4;
    EXPECT_TRUE(store_.restore(changelog::identity_row(identity, arena_), Offset(0)).ok());
    Meta meta;
    meta.now = kNow;
    meta.positions = positions(5, 5, 5);
    EXPECT_TRUE(store_.restore(changelog::meta_row(meta, arena_), Offset(1)).ok());
    for (const Role role : kInputs) queue_.reset(role, Offset(5));
    chores_.restart(Milliseconds(0));
  }

  // A row whose order is under way until then.
  void lease(const std::string& id, UnixMs until) {
    Row row;
    Group group;
    group.order.sequence = Sequence("12345678");
    group.requested = true;
    group.pending = TargetSet::of(TargetNumber(0));
    row.groups.push_back(group);
    JournalEntry entry;
    entry.order = group.order;
    entry.state = EntryState::kProcessing;
    entry.targets = group.pending;
    entry.number = 1;
    entry.attempt = 1;
    entry.lease_until = until;
    row.journal.push_back(entry);
    restore(id, row);
  }

  // A row that waits until `deadline`, or was completed and is kept until then.
  void put(const std::string& id, UnixMs deadline, bool completed) {
    Row row;
    Group group;
    group.order.sequence = Sequence("12345678");
    group.requested = true;
    (completed ? group.served : group.pending) = TargetSet::of(TargetNumber(0));
    row.groups.push_back(group);
    row.deadline = deadline;
    restore(id, row);
  }

  void restore(const std::string& id, const Row& row) {
    std::vector<store::Change> changes;
    const RowChange change{id, &row};
    test::append_rows(std::span(&change, 1), store_.hash(), arena_, changes);
    EXPECT_TRUE(store_.restore(changes.front(), Offset(next_++)).ok());
  }

  static InputFence::Offsets at(std::int64_t next) { return {Offset(next), Offset(next), Offset(next)}; }

  Application application_;
  Arena arena_;
  store::PartitionStore store_;
  InputQueue queue_;
  Chores chores_;
  std::int64_t next_ = 2;
};

TEST_F(Chore, AsksForEndsOnlyOnceATimerIsDue) {
  EXPECT_FALSE(chores_.want_ends(store_, at(9), kNow));
  put("a", UnixMs(kNow.value() + 10), false);
  EXPECT_FALSE(chores_.want_ends(store_, at(9), UnixMs(kNow.value() + 9)));
  EXPECT_TRUE(chores_.want_ends(store_, at(9), UnixMs(kNow.value() + 10)));
  chores_.set_ends({Offset(7), Offset(7), Offset(7)}, at(0), UnixMs(kNow.value() + 10));
  EXPECT_FALSE(chores_.want_ends(store_, at(9), UnixMs(kNow.value() + 11)));
}

TEST_F(Chore, FiresNoTimerBeforeTheInputsAreReadToTheEndsAskedAfterIt) {
  put("a", kNow, false);
  EXPECT_EQ(chores_.may_fire(positions(9, 9, 9), kNow), std::nullopt) << "nothing was asked";
  chores_.set_ends({Offset(7), Offset(5), Offset(9)}, at(0), kNow);
  EXPECT_EQ(chores_.may_fire(positions(7, 5, 8), kNow), std::nullopt);
  EXPECT_EQ(chores_.may_fire(positions(6, 5, 9), kNow), std::nullopt);
  EXPECT_EQ(chores_.may_fire(positions(7, 5, 9), UnixMs(kNow.value() + 50)), kNow) << "later ones must ask again";
}

// Or what is written all the time would keep it waiting for ever.
TEST_F(Chore, GoesOnBehindEndsThatWereReadToWhileOthersAreAsked) {
  chores_.set_ends({Offset(5), Offset(5), Offset(5)}, at(0), kNow);
  chores_.set_ends({Offset(9), Offset(9), Offset(9)}, at(5), UnixMs(kNow.value() + 10));
  EXPECT_EQ(chores_.may_fire(positions(5, 5, 5), kLater), kNow);
  EXPECT_EQ(chores_.may_fire(positions(9, 9, 8), kLater), kNow);
  EXPECT_EQ(chores_.may_fire(positions(9, 9, 9), kLater), UnixMs(kNow.value() + 10));
}

TEST_F(Chore, KeepsTheEndOfAnInputUntilItWasReadTo) {
  chores_.set_ends({Offset(5), Offset(5), Offset(5)}, at(0), kNow);
  chores_.set_ends({Offset(9), Offset(9), Offset(9)}, {Offset(5), Offset(5), Offset(4)}, UnixMs(kNow.value() + 10));
  EXPECT_EQ(chores_.may_fire(positions(5, 5, 4), kLater), std::nullopt);
  EXPECT_EQ(chores_.may_fire(positions(5, 5, 5), kLater), kNow) << "it waits for what was written since";
  EXPECT_EQ(chores_.may_fire(positions(9, 9, 9), kLater), kNow) << "an end of later that was not asked";
}

// What is not read to anyway need not be asked again and again.
TEST_F(Chore, AsksAgainOnlyForEndsThatWereReadTo) {
  put("a", UnixMs(kNow.value() + 10), false);
  chores_.set_ends({Offset(5), Offset(5), Offset(5)}, at(0), kNow);
  EXPECT_FALSE(chores_.want_ends(store_, at(4), UnixMs(kNow.value() + 10)));
  EXPECT_TRUE(chores_.want_ends(store_, {Offset(5), Offset(4), Offset(4)}, UnixMs(kNow.value() + 10)));
}

// An unclean election can take what is at the end of a log: nobody reads to where it was.
TEST_F(Chore, DoesNotWaitForAnEndThatALogHasLost) {
  put("a", kNow, false);
  chores_.set_ends({Offset(5), Offset(5), Offset(9)}, at(5), kNow);
  EXPECT_FALSE(chores_.want_ends(store_, at(5), UnixMs(kNow.value() + 9'999)));
  EXPECT_TRUE(chores_.want_ends(store_, at(5), UnixMs(kNow.value() + 10'000)));
  chores_.set_ends({Offset(5), Offset(5), Offset(10)}, at(5), UnixMs(kNow.value() + 10'000));
  EXPECT_EQ(chores_.may_fire(positions(5, 5, 8), kLater), std::nullopt) << "the log only grew";
  EXPECT_FALSE(chores_.want_ends(store_, at(5), UnixMs(kNow.value() + 10'001))) << "asked all the time";
  chores_.set_ends({Offset(5), Offset(5), Offset(8)}, at(5), UnixMs(kNow.value() + 20'000));
  EXPECT_EQ(chores_.may_fire(positions(5, 5, 8), kLater), kNow);
}

// The wall clock was an hour ahead when ends were asked, and was set back. What comes due now stands behind
// inputs of now, which nobody has asked for.
TEST_F(Chore, AsksAgainBehindAClockThatWasSetBack) {
  const UnixMs ahead(kNow.value() + 3'600'000);
  chores_.set_ends({Offset(5), Offset(5), Offset(5)}, at(5), ahead);
  // Set back to kNow. A minute later something is due; its result may stand at offset 5 of commands by then.
  const UnixMs due(kNow.value() + 60'000);
  put("a", due, false);
  EXPECT_TRUE(chores_.want_ends(store_, at(5), due)) << "ends of a minute ago are taken for those of now";
  const auto until = chores_.may_fire(positions(5, 5, 5), due);
  EXPECT_TRUE(!until || *until < due) << "it fires ahead of what stood in its inputs before its deadline";
}

// A log that has lost its end is looked at again after ten seconds, of whatever the wall clock says.
TEST_F(Chore, LooksAgainForALostEndWhenTheClockWasSetBack) {
  const UnixMs ahead(kNow.value() + 3'600'000);
  put("a", kNow, false);
  chores_.set_ends({Offset(5), Offset(5), Offset(9)}, at(5), ahead);
  EXPECT_TRUE(chores_.want_ends(store_, at(5), UnixMs(kNow.value() + 60'000)))
      << "everything that is due waits for an hour";
}

TEST_F(Chore, ForgetsTheEndsWhenThePartitionIsReadAgain) {
  put("a", kNow, false);
  chores_.set_ends({Offset(5), Offset(5), Offset(5)}, at(0), kNow);
  chores_.restart(Milliseconds(1));
  EXPECT_EQ(chores_.may_fire(positions(9, 9, 9), kNow), std::nullopt);
  EXPECT_TRUE(chores_.want_ends(store_, at(9), kNow));
}

// A worker sleeps until then at most.
TEST_F(Chore, KnowsWhenALeaseEndsNext) {
  EXPECT_EQ(chores_.next_date(store_, kNow), std::nullopt);
  const UnixMs first(kNow.value() + 30);
  const UnixMs second(kNow.value() + 70);
  lease("b", second);
  EXPECT_EQ(chores_.next_date(store_, kNow), second) << "also where no journal is any more";
  lease("a", first);
  EXPECT_EQ(chores_.next_date(store_, kNow), first);
  EXPECT_EQ(chores_.next_date(store_, first), std::nullopt) << "it is due, and waits for inputs at most";
}

TEST_F(Chore, WritesAHeartbeatEveryQuarterOfTheTombstones) {
  EXPECT_FALSE(chores_.want_heartbeat(store_, queue_, Milliseconds(999'999), kNow));
  EXPECT_TRUE(chores_.want_heartbeat(store_, queue_, Milliseconds(1'000'000), kNow));
  EXPECT_TRUE(chores_.want_heartbeat(store_, queue_, Milliseconds(1), UnixMs(kNow.value() + 1'000'000)))
      << "the meta row that was restored is old";
  chores_.committed(Milliseconds(1'000'000));
  EXPECT_FALSE(chores_.want_heartbeat(store_, queue_, Milliseconds(1'000'001), kNow));
}

TEST_F(Chore, CommitsPositionsThatMovedOverControlRecordsOnlyAfterAMinute) {
  queue_.reached(Role::kCommands, Offset(6));
  EXPECT_FALSE(chores_.want_heartbeat(store_, queue_, Milliseconds(59'999), kNow));
  EXPECT_TRUE(chores_.want_heartbeat(store_, queue_, Milliseconds(60'000), kNow));
}

TEST_F(Chore, SweepsOnlyWhereSomethingHasExpired) {
  put("young", UnixMs(kNow.value() + 1), true);
  application_.settings.watermark_retention_ms = 8000;
  chores_.look_for_expired(store_, Milliseconds(1000), kNow);
  EXPECT_FALSE(chores_.want_sweep(kLater));
  chores_.look_for_expired(store_, Milliseconds(1999), UnixMs(kNow.value() + 1));
  EXPECT_FALSE(chores_.want_sweep(kLater)) << "eight passes in watermark_retention, not more";
  chores_.look_for_expired(store_, Milliseconds(2000), UnixMs(kNow.value() + 1));
  EXPECT_TRUE(chores_.want_sweep(kLater));
  chores_.swept("behind");
  EXPECT_FALSE(chores_.want_sweep(kLater));
  EXPECT_EQ(chores_.sweep_cursor(), "behind");
}

TEST_F(Chore, SweepsAtOnceWhenItStarts) {
  put("old", kNow, true);
  chores_.start("", Milliseconds(5000));
  chores_.look_for_expired(store_, Milliseconds(5000), kNow);
  EXPECT_TRUE(chores_.want_sweep(kLater));
}

TEST_F(Chore, SweepsOnlyBehindTheInputsThatWereThereWhenItFoundSomething) {
  put("old", kNow, true);
  EXPECT_FALSE(chores_.want_ends(store_, at(9), kNow));
  chores_.look_for_expired(store_, Milliseconds(1000), kNow);
  EXPECT_TRUE(chores_.want_ends(store_, at(9), kNow));
  EXPECT_FALSE(chores_.want_sweep(std::nullopt)) << "inputs wait to be read";
  EXPECT_FALSE(chores_.want_sweep(UnixMs(kNow.value() - 1))) << "the ends are older than the find";
  EXPECT_TRUE(chores_.want_sweep(kNow));
  chores_.set_ends({Offset(7), Offset(7), Offset(7)}, at(0), kNow);
  EXPECT_FALSE(chores_.want_ends(store_, at(9), kNow));
  chores_.restart(Milliseconds(1001));
  EXPECT_FALSE(chores_.want_sweep(kLater)) << "it is read again, and found again";
}

TEST_F(Chore, NeverSweepsWhenWatermarksAreKeptForEver) {
  put("old", UnixMs(1), true);
  application_.settings.watermark_retention_ms = 0;
  chores_.look_for_expired(store_, Milliseconds(1'000'000), kNow);
  EXPECT_FALSE(chores_.want_sweep(kLater));
}

}  // namespace
}  // namespace reseq::runtime
