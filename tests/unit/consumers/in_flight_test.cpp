// At least once: no offset is committable before all results of the work below it are acknowledged.
#include "consumers/stage/in_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::stage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Partition kP0{0};
constexpr Partition kP1{1};

NextOffset next(Partition partition, std::int64_t offset) {
  return {partition, Offset(offset)};
}

TEST(InFlight, CommitsOnlyWhatIsFinishedAndAcknowledged) {
  InFlight work;
  work.assigned(kP0);
  const Ticket ticket = work.start(kP0, Offset(5));
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 5)));
  work.sent(ticket);
  work.finished(ticket);
  EXPECT_THAT(work.take_committable(), IsEmpty());
  work.acknowledged(ticket);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 6)));
  EXPECT_THAT(work.take_committable(), IsEmpty());
}

TEST(InFlight, WaitsForTheSecondResultToo) {
  InFlight work;
  work.assigned(kP0);
  const Ticket ticket = work.start(kP0, Offset(0));
  work.sent(ticket);
  work.acknowledged(ticket);
  EXPECT_TRUE(work.contains(ticket));
  work.sent(ticket);
  work.finished(ticket);
  EXPECT_TRUE(work.contains(ticket));
  work.acknowledged(ticket);
  EXPECT_FALSE(work.contains(ticket));
}

TEST(InFlight, WorkWithoutResultsIsDoneWhenItIsFinished) {
  InFlight work;
  work.assigned(kP0);
  work.finished(work.start(kP0, Offset(3)));
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 4)));
}

TEST(InFlight, FinishesOutOfOrderAcrossPartitions) {
  InFlight work;
  work.assigned(kP0);
  work.assigned(kP1);
  const Ticket a = work.start(kP0, Offset(0));
  const Ticket b = work.start(kP0, Offset(1));
  const Ticket c = work.start(kP1, Offset(9));
  (void)work.take_committable();
  work.finished(b);
  work.finished(c);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP1, 10)));
  work.finished(a);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 2)));
  EXPECT_EQ(work.size(), 0U);
}

TEST(InFlight, DropsTheWorkOfARevokedPartition) {
  InFlight work;
  work.assigned(kP0);
  work.assigned(kP1);
  const Ticket dropped = work.start(kP0, Offset(0));
  const Ticket kept = work.start(kP1, Offset(0));
  work.sent(dropped);
  work.revoked(kP0);
  EXPECT_FALSE(work.contains(dropped));
  EXPECT_TRUE(work.contains(kept));
  work.acknowledged(dropped);
  work.finished(dropped);
  EXPECT_THAT(work.owned(), ElementsAre(kP1));
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP1, 0)));
}

TEST(InFlight, TellsTheSameOffsetOfTwoAssignmentsApart) {
  InFlight work;
  work.assigned(kP0);
  const Ticket before = work.start(kP0, Offset(7));
  work.sent(before);
  work.revoked(kP0);
  work.assigned(kP0);
  const Ticket after = work.start(kP0, Offset(7));
  work.sent(after);
  work.finished(after);
  work.acknowledged(before);  // a late report of the first life must not count for the second
  EXPECT_TRUE(work.contains(after));
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 7)));
  work.acknowledged(after);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 8)));
}

// A broker that has just become the leader may say that the position is out of range, and librdkafka begins anew.
TEST(InFlight, BeginsAnewWhereRecordsAreReadAgain) {
  InFlight work;
  work.assigned(kP0);
  const Ticket before = work.start(kP0, Offset(7));
  work.sent(before);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 7)));
  const Ticket first = work.start(kP0, Offset(0));
  EXPECT_FALSE(work.contains(before)) << "nobody is to answer for it: it is read again";
  work.acknowledged(before);
  work.finished(before);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 0)));
  work.finished(first);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 1)));
  work.reached(kP0, Offset(7));
  const Ticket after = work.start(kP0, Offset(7));
  EXPECT_NE(after, before);
  work.finished(after);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 8)));
}

TEST(InFlight, CommitsTheEndOfTheLogBehindTheLastRecord) {
  InFlight work;
  work.assigned(kP0);
  const Ticket ticket = work.start(kP0, Offset(0));
  work.reached(kP0, Offset(2));  // a transaction marker at 1
  work.reached(kP1, Offset(5));  // not owned
  work.finished(ticket);
  EXPECT_THAT(work.take_committable(), ElementsAre(next(kP0, 2)));
}

}  // namespace
}  // namespace reseq::stage
