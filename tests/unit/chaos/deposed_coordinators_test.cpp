#include "tests/chaos/cluster/deposed_coordinators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace reseq::chaos {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Lines of a broker as Kafka 4.3.1 writes them.
std::string line(const std::string& time, const std::string& text) {
  return "2026-11-23 " + time + " INFO [Transaction State Manager 2]: " + text + " (TransactionStateManager)\n";
}

std::string loading(const std::string& partition, const std::string& term) {
  return line("08:50:39,594",
              "Loading transaction metadata from __transaction_state-" + partition + " at epoch " + term);
}

std::string loaded(const std::string& time, const std::string& partition, const std::string& term) {
  return line(time, "Completed loading transaction metadata from __transaction_state-" + partition +
                        " for coordinator epoch " + term);
}

std::string sending(const std::string& partition, const std::string& term) {
  return line("08:50:39,632",
              "Sending txn markers for TransactionalIdCoordinatorEpochAndTransitMetadata(chaos.r3.0," + term +
                  ",COMMIT,TransactionMetadata(transactionalId=chaos.r3.0, producerId=3, prevProducerId=3, "
                  "nextProducerId=-1, producerEpoch=0, lastProducerEpoch=-1, txnTimeoutMs=10000, state=PREPARE_COMMIT, "
                  "pendingState=Optional[COMPLETE_COMMIT], topicPartitions=[chaos.changelog-3, __consumer_offsets-1], "
                  "txnStartTimestamp=1795423823921, txnLastUpdateTimestamp=1795423824771, "
                  "clientTransactionVersion=TV_0),TxnTransitMetadata[producerId=3, prevProducerId=3, "
                  "nextProducerId=-1, producerEpoch=0, lastProducerEpoch=-1, txnTimeoutMs=10000, "
                  "txnState=COMPLETE_COMMIT, topicPartitions=[], txnStartTimestamp=1795423823921, "
                  "txnLastUpdateTimestamp=1795423839618, clientTransactionVersion=TV_0]) after loading partition " +
                  partition);
}

// What one broker logs that finds a decision when it loads partition 1 in a term.
std::string found_in_term(const std::string& term) {
  return loading("1", term) + sending("1", term) + loaded("08:50:39,653", "1", term);
}

std::vector<std::string> proofs_of(const std::string& second, const std::string& first) {
  DeposedCoordinators coordinators;
  coordinators.read(2, second);
  coordinators.read(1, first);
  return coordinators.proofs();
}

constexpr const char* kProof =
    "broker 2, a deposed coordinator, sent markers of (chaos.r3.0,0,COMMIT) at 2026-11-23 08:50:39,632: "
    "__transaction_state-1 had term 4 at broker 1 since 2026-11-23 08:50:39,457";

TEST(DeposedCoordinators, AreThoseThatSendMarkersInATermThatIsOver) {
  EXPECT_THAT(proofs_of(found_in_term("0"), loaded("08:50:39,457", "1", "4")), ElementsAre(kProof));
}

TEST(DeposedCoordinators, AreFoundInWhateverOrderLogsAreRead) {
  DeposedCoordinators coordinators;
  coordinators.read(1, loaded("08:50:39,293", "1", "2") + loaded("08:50:39,457", "1", "4"));
  coordinators.read(2, found_in_term("0"));
  coordinators.read(2, loaded("08:50:22,577", "1", "0"));
  coordinators.read(1, loaded("08:50:42,000", "1", "6") + loaded("08:50:39,020", "1", "1"));
  EXPECT_THAT(coordinators.proofs(), ElementsAre(kProof));
}

TEST(DeposedCoordinators, AreNotThoseWhoseTermIsOverAtThatInstantOrLater) {
  EXPECT_THAT(proofs_of(found_in_term("0"), loaded("08:50:39,632", "1", "4")), IsEmpty());
  EXPECT_THAT(proofs_of(found_in_term("0"), loaded("08:50:39,633", "1", "4")), IsEmpty());
}

TEST(DeposedCoordinators, AreNotThoseOfAnotherPartition) {
  EXPECT_THAT(proofs_of(found_in_term("0"), loaded("08:50:39,457", "2", "4")), IsEmpty());
  EXPECT_THAT(proofs_of(found_in_term("0"), loaded("08:50:39,457", "11", "4")), IsEmpty());
  EXPECT_THAT(proofs_of(loading("1", "0") + sending("2", "0"), loaded("08:50:39,457", "1", "4")), IsEmpty());
}

TEST(DeposedCoordinators, AreNotThoseOfTheSameTermOrOfANewerOne) {
  EXPECT_THAT(proofs_of(found_in_term("4"), loaded("08:50:39,457", "1", "4")), IsEmpty());
  EXPECT_THAT(proofs_of(found_in_term("10"), loaded("08:50:39,457", "1", "9")), IsEmpty());
}

TEST(DeposedCoordinators, AreDeposedByAnotherBroker) {
  EXPECT_THAT(proofs_of(loaded("08:50:39,457", "1", "4") + found_in_term("0"), ""), IsEmpty());
}

// Another load may be told of in between.
TEST(DeposedCoordinators, AreThoseOfThePartitionAndTheTermThatTheirLineNames) {
  EXPECT_THAT(proofs_of(loading("2", "5") + sending("1", "0"), loaded("08:50:39,457", "1", "4")), ElementsAre(kProof));
}

TEST(DeposedCoordinators, AreReadOfWholeLinesOnly) {
  std::string cut = found_in_term("0");
  cut.resize(cut.find("Sending") + 90);
  EXPECT_THAT(proofs_of(cut, "\n\nno time\n" + loaded("08:50:39,457", "1", "4")), IsEmpty());
}

}  // namespace
}  // namespace reseq::chaos
