// What an operator changes of what waits, in the job table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/journal/job_table.h"
#include "tests/journal/job_table_rules.h"

namespace reseq::journal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Operator = JobTableRules;

TEST_F(Operator, LetsWhatWaitsGoAtOnceAndFirst) {
  rules.in_flight_max = 1;
  (void)at(0, {request(2, 1)});
  (void)at(0, {request(1, 1, kBoth, {.priority = 1}), request(0, 1, kBoth, {.process_at = 50})});
  EXPECT_THAT(at(1, {now(0)}).verdicts, ElementsAre(kApplies));
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.inserted, UnixMs(0));
  EXPECT_THAT(sent(at(2, {result(2, 1, kZero), result(2, 1, kOne)})), ElementsAre(std::pair(0U, 1U)));
}

TEST_F(Operator, LetsNoMoreBeUnderWayForWhatIsToGoNow) {
  rules.in_flight_max = 1;
  EXPECT_THAT(sent(at(0, {request(2, 1), request(0, 1), now(0)})), ElementsAre(std::pair(0U, 1U)));
  EXPECT_THAT(sent(at(1, {now(2)})), IsEmpty());
}

TEST_F(Operator, LetsAnOlderOrderEndBeforeWhatIsToGoNow) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(sent(at(1, {request(0, 2), now(0)})), IsEmpty());
  EXPECT_THAT(sent(at(2, {result(0, 1, kZero), result(0, 1, kOne)})), ElementsAre(std::pair(0U, 2U)));
}

TEST_F(Operator, DoesNotConsolidateWhatIsToGoNow) {
  rules.consolidate_ms = 40;
  EXPECT_THAT(sent(at(0, {request(0, 1)})), IsEmpty());
  EXPECT_THAT(sent(at(1, {now(0)})), ElementsAre(std::pair(0U, 1U)));
}

TEST_F(Operator, LetsWhatIsStuckGoInFrontOfAllOthers) {
  rules.timeouts_max = 0;
  rules.in_flight_max = 1;
  (void)at(0, {request(0, 1)});
  (void)at(100);
  EXPECT_EQ(table().document(0).waiting.at(0).losses, 1U);
  EXPECT_THAT(sent(at(101, {request(1, 1, kBoth, {.priority = 0, .timestamp = 101}), now(0)})),
              ElementsAre(std::pair(0U, 1U)));
  EXPECT_EQ(table().document(0).under_way.at(0).losses, 0U);
}

TEST_F(Operator, LetsWhatHasBackedOffKeepItsTimeouts) {
  rules.timeouts_max = 5;
  (void)at(0, {request(0, 1), request(1, 1)});
  (void)at(1, {result(1, 1, kZero), result(1, 1, kOne)});
  (void)at(100);  // counted
  (void)at(100);
  (void)at(200);  // not counted, backs off
  EXPECT_THAT(sent(at(201, {now(0)})), ElementsAre(std::pair(0U, 1U)));
  EXPECT_EQ(table().document(0).under_way.at(0).timeouts, 1U);
}

TEST_F(Operator, PostponesWhatWaitsAndNeverToAnEarlierDate) {
  (void)at(0, {request(0, 1, kBoth, {.process_at = 50})});
  EXPECT_THAT(at(1, {postpone(0, 40), postpone(0, 60), postpone(0, 60)}).verdicts,
              ElementsAre(kChangesNothing, kApplies, kChangesNothing));
  EXPECT_THAT(sent(at(59)), IsEmpty());
  EXPECT_THAT(sent(at(60)), ElementsAre(std::pair(0U, 1U)));
}

TEST_F(Operator, PostponesNothingByADateThatHasPassed) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(at(9, {request(0, 2), postpone(0, 9), postpone(0, 10)}).verdicts,
              ElementsAre(kWaits, kChangesNothing, kApplies));
}

TEST_F(Operator, PostponesNoFurtherThanARequestMay) {
  EXPECT_THAT(at(10, {request(0, 1), postpone(0, 311), postpone(0, 310), postpone(1, 311)}).verdicts,
              ElementsAre(kWaits, kIsMalformed, kApplies, kIsMalformed));
}

TEST_F(Operator, MergesWhatWasPostponedWithANewerRequest) {
  (void)at(0, {request(0, 1), postpone(0, 250)});
  EXPECT_THAT(at(9, {request(0, 2, kBoth, {.priority = 7, .timestamp = 9})}).verdicts, ElementsAre(kWaits));
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.process_at, UnixMs(250));
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.priority, 7);
}

TEST_F(Operator, MovesOrdersThatWaitForATargetAsAWhole) {
  (void)at(0, {request(0, 1, kBoth, {.process_at = 50}), request(0, 2, kOne, {.process_at = 60})});
  const Answer answer = at(1, {now(0, kZero), now(0, kZero), now(0, kAllTargets.without(kBoth))});
  EXPECT_THAT(answer.verdicts, ElementsAre(kApplies, kChangesNothing, kChangesNothing));
  EXPECT_THAT(sent(answer), ElementsAre(std::pair(0U, 1U)));
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.priority, 100);
}

TEST_F(Operator, SaysThatNothingWaits) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(at(1, {now(0), postpone(0, 50), now(1), postpone(1, 50)}).verdicts,
              ElementsAre(kChangesNothing, kChangesNothing, kIsUnknown, kIsUnknown));
}

}  // namespace
}  // namespace reseq::journal
