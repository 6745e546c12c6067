// What a broker says of markers that it skips is understood. The lines are those of brokers of 4.3.1, some shortened.
#include "tests/chaos/cluster/skipped_markers.h"

#include <gtest/gtest.h>

namespace reseq::chaos {
namespace {

using All = std::vector<Skipped>;

constexpr Decision kCommit{.producer_id = 7, .producer_epoch = 47, .commit = true, .coordinator_epoch = 8};

std::string sends(const std::string& id, const std::string& epoch_and_result) {
  return "2026-11-22 02:53:09,328 INFO [Transaction State Manager 1]: Sending txn markers for "
         "TransactionalIdCoordinatorEpochAndTransitMetadata(" +
         id + "," + epoch_and_result + ",TransactionMetadata(transactionalId=" + id +
         ", producerId=7, prevProducerId=6, nextProducerId=-1, producerEpoch=47, lastProducerEpoch=-1, "
         "txnTimeoutMs=10000, state=PREPARE_COMMIT, pendingState=Optional[COMPLETE_COMMIT], "
         "topicPartitions=[chaos.changelog-3, __consumer_offsets-1], txnStartTimestamp=1795315972820, "
         "clientTransactionVersion=TV_0),TxnTransitMetadata[producerId=7, producerEpoch=47]) after loading partition 1 "
         "(TransactionStateManager)";
}

std::string skips(const std::string& id, const std::string& set) {
  return "2026-11-22 02:53:13,186 INFO [Transaction Marker Channel Manager 1]: Couldn't find leader endpoint for "
         "partitions " +
         set + " while trying to send transaction markers for " + id +
         ", these partitions are likely deleted already and hence can be skipped (TransactionMarkerChannelManager)";
}

All skipped_in(const std::vector<std::string>& lines) {
  SkippedMarkers log;
  for (const std::string& line : lines) log.read(line);
  return log.all();
}

TEST(SkippedMarkers, BelongToTheDecisionThatWasSentBefore) {
  EXPECT_EQ(skipped_in({sends("chaos.r3.0", "8,COMMIT"), sends("chaos.r1.0", "9,ABORT"),
                        skips("chaos.r3.0", "Set(chaos.changelog-3, chaos.output.search-3, __consumer_offsets-1)")}),
            (All{{.transactional_id = "chaos.r3.0",
                  .decision = kCommit,
                  .partitions = {{"chaos.changelog", 3}, {"chaos.output.search", 3}, {"__consumer_offsets", 1}},
                  .left_to_next = false}}));
}

TEST(SkippedMarkers, OfAnAbortAreThoseOfAnAbort) {
  const All all = skipped_in({sends("chaos.r3.0", "8,ABORT"), skips("chaos.r3.0", "Set(chaos.work-12)")});
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all[0].decision);
  EXPECT_FALSE(all[0].decision->commit);
  EXPECT_EQ(all[0].partitions, (std::vector<NamedPartition>{{"chaos.work", 12}}));
}

TEST(SkippedMarkers, OfManyPartitionsStandInAHashSet) {
  const All all =
      skipped_in({sends("chaos.r3.0", "8,COMMIT"), skips("chaos.r3.0", "HashSet(a-0, b-c-1, d-2, e-3, f-4)")});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].partitions.size(), 5U);
  EXPECT_EQ(all[0].partitions[1], (NamedPartition{"b-c", 1}));
}

TEST(SkippedMarkers, OfWhichNothingWasSaidHaveNoDecision) {
  const All unknown = {{.transactional_id = "chaos.r2.0",
                        .decision = std::nullopt,
                        .partitions = {{"chaos.work", 0}},
                        .left_to_next = false}};
  EXPECT_EQ(skipped_in({skips("chaos.r2.0", "Set(chaos.work-0)")}), unknown);
  EXPECT_EQ(skipped_in({sends("chaos.r3.0", "8,COMMIT"), skips("chaos.r2.0", "Set(chaos.work-0)")}), unknown);
}

TEST(SkippedMarkers, OfALaterTransactionAreNotThoseOfTheFirst) {
  SkippedMarkers log;
  log.read(sends("chaos.r3.0", "8,COMMIT"));
  log.forget_decisions();
  log.read(skips("chaos.r3.0", "Set(chaos.work-0)"));
  ASSERT_EQ(log.all().size(), 1U);
  EXPECT_FALSE(log.all()[0].decision);
}

TEST(SkippedMarkers, AreNotSkippedIfTheyAreSentAgain) {
  const std::string skip = skips("chaos.r3.0", "Set(chaos.work-0)");
  EXPECT_EQ(skipped_in({sends("chaos.r3.0", "8,COMMIT"), skip, sends("chaos.r3.0", "10,COMMIT")}), All{});
  const All again = skipped_in({sends("chaos.r3.0", "8,COMMIT"), skip, sends("chaos.r3.0", "10,COMMIT"), skip});
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].decision->coordinator_epoch, 10);
}

// Seen: "complete" stood in the log, was answered with NOT_COORDINATOR, and the next term sent nothing.
TEST(SkippedMarkers, OfATermThatIsOverAreLeftToTheNext) {
  const std::string ended =
      "2026-11-22 12:03:56,640 INFO [Transaction Marker Channel Manager 3]: No longer the coordinator for "
      "transactionalId: chaos.r1.0 while trying to append to transaction log, skip writing to transaction log "
      "(TransactionMarkerChannelManager)";
  const std::vector<std::string> lines = {sends("chaos.r1.0", "0,COMMIT"), skips("chaos.r1.0", "Set(chaos.work-0)"),
                                          sends("chaos.r3.0", "0,COMMIT"), skips("chaos.r3.0", "Set(chaos.work-1)"),
                                          ended};
  const All all = skipped_in(lines);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].left_to_next);
  EXPECT_TRUE(all[0].decision);
  EXPECT_FALSE(all[1].left_to_next);
  std::vector<std::string> next_term = lines;
  next_term.push_back(sends("chaos.r1.0", "2,COMMIT"));
  const All other = skipped_in(next_term);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].transactional_id, "chaos.r3.0");
}

TEST(SkippedMarkers, OnALineThatIsNotUnderstoodAreToldWithoutDecision) {
  const All all = skipped_in({sends("chaos.r3.0", "8,COMMIT"), skips("chaos.r3.0", "Set(whatever)")});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].decision);
  EXPECT_FALSE(skipped_in({sends("chaos.r3.0", "8,PERHAPS"), skips("chaos.r3.0", "Set(a-1)")})[0].decision);
  EXPECT_FALSE(skipped_in({sends("chaos.r3.0", "x,COMMIT"), skips("chaos.r3.0", "Set(a-1)")})[0].decision);
}

TEST(SkippedMarkers, OtherLinesSayNothingOfThem) {
  EXPECT_EQ(
      skipped_in({"",
                  "2026-11-22 02:53:13,212 INFO [TransactionCoordinator id=1] Resigned as the txn coordinator for "
                  "partition 0 at epoch Some(9) (TransactionCoordinator)"}),
      All{});
}

TEST(SkippedMarkers, AreTakenOnce) {
  SkippedMarkers log;
  log.read(skips("chaos.r2.0", "Set(chaos.work-0)"));
  EXPECT_EQ(log.take().size(), 1U);
  EXPECT_TRUE(log.take().empty());
}

}  // namespace
}  // namespace reseq::chaos
