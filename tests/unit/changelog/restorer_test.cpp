#include "changelog/restorer.h"

#include <gtest/gtest.h>

#include "changelog/batch_rows.h"
#include "written_log.h"

namespace reseq::changelog {
namespace {

using Trouble = Restorer::Trouble;

constexpr Milliseconds kNow{0};

class Restore : public ::testing::Test {
 protected:
  Restore() {
    Identity identity;
    identity.application_id = "shop";
    identity.cluster_id = "cluster";
    identity.partitions = 4;
    write(0, identity_row(identity, arena_));
    write(1, targets_row(TargetTable(), arena_));
    Meta meta;
    meta.lineage = {{1, Offset(0)}};
    write(2, meta_row(meta, arena_));
    meta.now = UnixMs(7);
    write(5, meta_row(meta, arena_));
    log_.end = Offset(7);  // a marker behind the last record
  }

  void write(std::int64_t offset, const store::Change& change) { log_.write(offset, change); }

  std::vector<Restorer::Failure> read(std::size_t records_max = 100) {
    auto failures = restorer_.step(records_max, kNow);
    EXPECT_TRUE(failures.ok());
    return std::move(failures).value();
  }

  void aim() {
    const Partition partition = kPartition;
    restorer_.aim(kPartition, restorer_.ends({&partition, 1}, kNow).value().front(), store_);
  }

  Arena arena_;
  WrittenLog log_;
  store::PartitionStore store_;
  Restorer restorer_{log_, kTopic, MemoryLimit()};
};

TEST_F(Restore, IsDoneAtTheHighWatermarkWhereMarkersCount) {
  aim();
  EXPECT_TRUE(read(4).empty());
  EXPECT_EQ(store_.position(), Offset(6));
  EXPECT_FALSE(restorer_.reached(kPartition)) << "a transaction may still be open behind the last record";
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(restorer_.reached(kPartition));
  EXPECT_EQ(store_.position(), Offset(6)) << "the last record applied, not the end";
  EXPECT_EQ(restorer_.progress(kPartition).records, 4U);
}

TEST_F(Restore, GoesOnAfterARecordThatIsTheOneItKnows) {
  aim();
  (void)read(3);
  ASSERT_EQ(store_.position(), Offset(3));
  restorer_.drop(kPartition);
  aim();
  EXPECT_TRUE(read(0).empty());
  EXPECT_EQ(log_.assigned.front().offset, Offset(2)) << "one record earlier";
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(store_.meta()->now, UnixMs(7));
  EXPECT_EQ(restorer_.progress(kPartition).records, 1U) << "the known one is compared, not applied again";
}

TEST_F(Restore, FindsOutThatTheLogIsAnotherOne) {
  aim();
  (void)read(3);
  restorer_.drop(kPartition);
  Meta other;
  other.lineage = {{1, Offset(1)}};
  log_.entries[2].value = std::string(*meta_row(other, arena_).value);
  aim();
  const auto failures = read();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].partition, kPartition);
  EXPECT_EQ(failures[0].trouble, Trouble::kOtherLog);
  EXPECT_FALSE(restorer_.restoring(kPartition));
}

// A copy of another partition, whose position lies in a transaction of this one that was aborted.
TEST_F(Restore, FindsOutThatTheLogHasNothingWhereTheCopyEnds) {
  aim();
  (void)read(3);
  restorer_.drop(kPartition);
  log_.entries.resize(2);
  aim();
  const auto failures = read();
  ASSERT_EQ(failures.size(), 1U) << "a copy was believed of which the log knows nothing";
  EXPECT_EQ(failures[0].trouble, Trouble::kOtherLog);
  EXPECT_FALSE(restorer_.restoring(kPartition));
}

TEST_F(Restore, WaitsForAnOpenTransactionBeforeItMissesARecord) {
  aim();
  (void)read(3);
  restorer_.drop(kPartition);
  const auto entries = std::exchange(log_.entries, {});
  aim();
  log_.end = Offset(2);  // the last stable offset
  EXPECT_TRUE(read().empty());
  EXPECT_FALSE(restorer_.reached(kPartition));
  log_.entries = entries;
  log_.end = Offset(7);
  log_.said_end = false;
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(restorer_.reached(kPartition));
}

TEST_F(Restore, DoesNotMissARecordThatCompactionRemoved) {
  aim();
  (void)read(3);
  restorer_.drop(kPartition);
  log_.entries.erase(log_.entries.begin() + 2);
  aim();
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(restorer_.reached(kPartition));
  EXPECT_EQ(store_.meta()->now, UnixMs(7));
}

TEST_F(Restore, TellsADamagedLogFromAPassingTrouble) {
  aim();
  log_.failure = Error{ErrorClass::kInvalid, 0, "not allowed at the moment"};
  auto failures = read();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].trouble, Trouble::kPassing);

  log_.entries[1].value->back() = static_cast<char>(log_.entries[1].value->back() ^ 1);
  aim();
  failures = read();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].trouble, Trouble::kUnreadable);
}

TEST_F(Restore, IgnoresTroubleOfAPartitionThatIsNotRestored) {
  log_.failure = Error{ErrorClass::kInvalid, 0, "late"};
  EXPECT_TRUE(read().empty());
}

// To change what is read costs as much as all that is read: many partitions must not change it twice each.
TEST(ManyRestores, ChangeWhatIsReadOnceForAllThatBeginAndNowAndThenForThoseThatEnd) {
  constexpr std::int32_t kMany = 512;
  WrittenLog log;
  Restorer restorer(log, kTopic, MemoryLimit());
  std::vector<store::PartitionStore> stores(kMany);
  const auto step = [&] { ASSERT_TRUE(restorer.step(0, kNow).ok()); };
  for (std::int32_t p = 0; p < kMany; ++p)
    restorer.aim(Partition(p), {Offset(0), Offset(1)}, stores[static_cast<std::size_t>(p)]);
  step();
  EXPECT_EQ(log.assigns, 1);
  EXPECT_EQ(log.assigned.size(), 512U);
  for (std::int32_t p = 0; p < kMany; ++p) {
    restorer.drop(Partition(p));
    step();
    EXPECT_LE(log.assigned.size(), 2U * static_cast<std::size_t>(kMany - p - 1)) << "more is read than is wanted";
  }
  EXPECT_EQ(log.assigns, 11);
  EXPECT_TRUE(log.assigned.empty());
  EXPECT_FALSE(restorer.busy());
}

}  // namespace
}  // namespace reseq::changelog
