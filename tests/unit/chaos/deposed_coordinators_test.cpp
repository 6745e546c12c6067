#include "tests/chaos/cluster/deposed_coordinators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace reseq::chaos {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string loading(const std::string& time, const std::string& partition, const std::string& epoch) {
  return "2026-11-23 " + time + " INFO [Transaction State Manager 2]: Loading transaction metadata from " +
         "__transaction_state-" + partition + " at epoch " + epoch + " (TransactionStateManager)\n";
}

std::string sending(const std::string& time, const std::string& epoch) {
  return "2026-11-23 " + time + " INFO [Transaction State Manager 2]: Sending txn markers for " +
         "TransactionalIdCoordinatorEpochAndTransitMetadata(app.r3.0," + epoch +
         ",COMMIT,TransactionMetadata(transactionalId=app.r3.0, producerId=3, producerEpoch=0)) (TransactionState)\n";
}

std::string loaded(const std::string& time, const std::string& partition, const std::string& epoch) {
  return "2026-11-23 " + time + " INFO [Transaction State Manager 1]: Completed loading transaction metadata from " +
         "__transaction_state-" + partition + " for coordinator epoch " + epoch + " (TransactionStateManager)\n";
}

// What one broker logs that finds a decision when it loads partition 1 in a term.
std::string found(const std::string& epoch) {
  return loading("08:50:39,594", "1", epoch) + sending("08:50:39,632", epoch) + loaded("08:50:39,653", "1", epoch);
}

std::vector<std::string> proofs_of(const std::string& one, const std::string& other) {
  DeposedCoordinators coordinators;
  coordinators.read(one);
  coordinators.read(other);
  return coordinators.proofs();
}

TEST(DeposedCoordinators, AreThoseThatSendMarkersInATermThatIsOver) {
  const std::string proof =
      "a deposed coordinator sent markers of (app.r3.0,0,COMMIT) at 2026-11-23 08:50:39,632: "
      "__transaction_state-1 had term 4 since 2026-11-23 08:50:39,457";
  EXPECT_THAT(proofs_of(found("0"), loaded("08:50:39,457", "1", "4")), ElementsAre(proof));
  EXPECT_THAT(proofs_of(loaded("08:50:39,457", "1", "4"), found("0")), ElementsAre(proof));
}

TEST(DeposedCoordinators, AreNotThoseWhoseTermIsOverOnlyLater) {
  EXPECT_THAT(proofs_of(found("0"), loaded("08:50:39,633", "1", "4")), IsEmpty());
}

TEST(DeposedCoordinators, AreNotThoseOfAnotherPartitionOrOfTheNewTermItself) {
  EXPECT_THAT(proofs_of(found("0"), loaded("08:50:39,457", "2", "4")), IsEmpty());
  EXPECT_THAT(proofs_of(found("5"), loaded("08:50:39,457", "1", "4")), IsEmpty());
}

TEST(DeposedCoordinators, AreReadOfWholeLinesOnly) {
  std::string torn = found("0");
  torn.resize(torn.find("Sending") + 90);
  EXPECT_THAT(proofs_of(torn, "\n\nno time\n" + loaded("08:50:39,457", "1", "4")), IsEmpty());
}

}  // namespace
}  // namespace reseq::chaos
