// The job table itself, rule by rule.
#include "tests/journal/job_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/journal/job_table_rules.h"

namespace reseq::journal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using J1 = JobTableRules;
using J2 = JobTableRules;
using J3 = JobTableRules;
using J4 = JobTableRules;
using J5 = JobTableRules;
using DispatchOrder = JobTableRules;
using Leases = JobTableRules;
using Attempts = JobTableRules;
using Barriers = JobTableRules;

TEST_F(J1, DispatchesInTheSameBatchWhileThereIsRoom) {
  rules.in_flight_max = 1;
  const Answer answer = at(0, {request(0, 1), request(1, 1)});
  EXPECT_THAT(answer.verdicts, ElementsAre(kForwards, kWaits));
  EXPECT_THAT(sent(answer), ElementsAre(std::pair(0U, 1U)));
  EXPECT_EQ(answer.dispatched[0].targets, kBoth);
  EXPECT_EQ(answer.dispatched[0].lease_until, UnixMs(rules.lease_ms));
  EXPECT_EQ(answer.waiting, 1U);
  EXPECT_EQ(answer.processing, 1U);
}

TEST_F(J1, WaitsForItsDate) {
  EXPECT_THAT(at(0, {request(0, 1, kBoth, {.process_at = 50})}).verdicts, ElementsAre(kWaits));
  EXPECT_THAT(sent(at(49)), IsEmpty());
  EXPECT_THAT(sent(at(50)), ElementsAre(std::pair(0U, 1U)));
}

TEST_F(J1, RefusesADateTooFarAheadAndTakesOneBeforeTheInsertionForTheInsertion) {
  const Answer answer = at(10, {request(0, 1, kBoth, {.process_at = 311, .timestamp = 10}),
                                request(0, 1, kBoth, {.process_at = 310, .timestamp = 10}),
                                request(1, 1, kBoth, {.process_at = 1, .timestamp = 10})});
  EXPECT_THAT(answer.verdicts,
              ElementsAre(Verdict{Outcome::kDeadLettered, Reason::kMalformedHeader}, kWaits, kForwards));
  EXPECT_EQ(table().document(1).under_way.at(0).urgency.process_at, UnixMs(10));
}

TEST_F(J1, TakesATimestampAheadOfTheClockForNow) {
  (void)at(10, {request(0, 1, kBoth, {.process_at = 50, .timestamp = 99})});
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.inserted, UnixMs(10));
}

TEST_F(J2, NarrowsTheOlderEntryByWhatMoved) {
  const Answer answer =
      at(0, {request(0, 1, kBoth, {.process_at = 50}), request(0, 2, kZero, {.process_at = 60}), request(0, 3, kZero)});
  EXPECT_THAT(answer.verdicts, ElementsAre(kWaits, kIsSuperseded, kWaits));
  ASSERT_EQ(table().document(0).waiting.size(), 2U);
  EXPECT_EQ(table().document(0).waiting.at(0).targets, kOne);
  EXPECT_EQ(table().document(0).waiting.at(1).targets, kZero);
}

TEST_F(J2, MergesDatesAndPriority) {
  (void)at(20, {request(0, 1, kBoth, {.priority = 50, .process_at = 90, .expires_at = 900, .timestamp = 5}),
                request(0, 2, kBoth, {.priority = 70, .process_at = 310, .expires_at = 400, .timestamp = 15})});
  const Urgency& urgency = table().document(0).waiting.at(0).urgency;
  EXPECT_EQ(urgency.inserted, UnixMs(5));
  EXPECT_EQ(urgency.priority, 50);
  EXPECT_EQ(urgency.process_at, UnixMs(5 + rules.process_at_max_ms));
  EXPECT_EQ(urgency.expires_at, UnixMs(900));
}

TEST_F(J2, TakesNeverForTheLargestExpiration) {
  (void)at(0, {request(0, 1, kBoth, {.process_at = 50}), request(0, 2, kBoth, {.process_at = 50, .expires_at = 60})});
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.expires_at, UnixMs());
}

TEST_F(J2, KeepsTheEarliestInsertion) {
  (void)at(20, {request(0, 1, kZero, {.process_at = 90, .timestamp = 9}),
                request(0, 2, kOne, {.process_at = 90, .timestamp = 3}),
                request(0, 3, kBoth, {.process_at = 90, .timestamp = 1})});
  ASSERT_EQ(table().document(0).waiting.size(), 1U);
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.inserted, UnixMs(1));
}

TEST_F(J2, LeavesAnEntryAloneOfWhichNothingMoved) {
  (void)at(0, {request(0, 2, kZero, {.priority = 5, .process_at = 50}), request(0, 1, kBoth, {.process_at = 70})});
  ASSERT_EQ(table().document(0).waiting.size(), 2U);
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.priority, 5);
  EXPECT_EQ(table().document(0).waiting.at(1).targets, kOne);
  EXPECT_EQ(table().document(0).waiting.at(1).urgency.priority, 100);
}

TEST_F(J2, LeavesTargetsPendingWhenAnOlderOrderComesBackWhileANewerWaits) {
  (void)at(0, {request(0, 1)});
  (void)at(10, {request(0, 2, kZero, {.priority = 120, .process_at = 300, .timestamp = 10})});
  EXPECT_THAT(sent(at(100)), IsEmpty());
  const Answer lost = at(100);
  EXPECT_THAT(lost.dispatched, ElementsAre(Dispatched{0, 1, kOne, 2, UnixMs(200)}));
  ASSERT_EQ(table().document(0).waiting.size(), 1U);
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.priority, 100);
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.inserted, UnixMs(0));
  EXPECT_EQ(table().document(0).targets.at(TargetNumber(0)).newest, 1U);
  EXPECT_EQ(table().document(0).targets.at(TargetNumber(0)).state, TargetState::kPending);
}

TEST_F(J2, ResetsTheCounter) {
  rules.timeouts_max = 5;
  (void)at(0, {request(0, 1)});
  (void)at(1, {request(1, 1)});
  (void)at(2, {result(1, 1, kZero), result(1, 1, kOne)});
  (void)at(100);  // lost, counted
  (void)at(100);  // dispatched again
  EXPECT_EQ(table().document(0).under_way.at(0).timeouts, 1U);
  (void)at(200);  // lost, not counted, backs off
  ASSERT_EQ(table().document(0).waiting.size(), 1U);
  EXPECT_EQ(table().document(0).waiting.at(0).timeouts, 1U);
  EXPECT_EQ(table().document(0).waiting.at(0).losses, 1U);
  (void)at(210, {request(0, 2)});
  ASSERT_EQ(table().document(0).waiting.size() + table().document(0).under_way.size(), 1U);
  for (const Waiting& entry : table().document(0).waiting) EXPECT_EQ(entry.timeouts + entry.losses, 0U);
  for (const UnderWay& each : table().document(0).under_way) EXPECT_EQ(each.timeouts + each.losses, 0U);
}

TEST_F(J2, SupersedesNothingByWaitingAlone) {
  (void)at(0, {request(0, 1)});
  const Answer answer = at(1, {request(0, 2), result(0, 1, kZero)});
  EXPECT_THAT(answer.verdicts, ElementsAre(kWaits, kReleases));
}

TEST_F(Barriers, OfACommandStopWhatWaitsAndResultsBelowThem) {
  rules.in_flight_max = 1;
  (void)at(0, {request(2, 1)});
  (void)at(1, {request(0, 1, kOne)});
  Input registered = command(Kind::kRegister, 0, 3, std::nullopt);
  registered.deletes = true;
  const Answer answer = at(2, {registered, request(0, 2), result(0, 1, kOne)});
  EXPECT_THAT(answer.verdicts, ElementsAre(Verdict{Outcome::kRegistered, Reason::kNone}, kIsSuperseded, kIsSuperseded));
  const Answer ended = at(3, {result(2, 1, kZero), result(2, 1, kOne)});
  EXPECT_THAT(sent(ended), IsEmpty());
  EXPECT_EQ(ended.waiting, 0U);
}

TEST_F(J3, BlocksANewerOrderUntilTheOlderHasEndedForAllItsTargets) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(sent(at(1, {request(0, 2, kZero)})), IsEmpty());
  EXPECT_THAT(sent(at(2, {result(0, 1, kZero)})), IsEmpty());
  EXPECT_THAT(sent(at(3, {result(0, 1, kOne)})), ElementsAre(std::pair(0U, 2U)));
}

TEST_F(J3, DoesNotBlockAnOlderOrder) {
  (void)at(0, {request(0, 2, kZero)});
  EXPECT_THAT(sent(at(1, {request(0, 1, kOne)})), ElementsAre(std::pair(0U, 1U)));
}

TEST_F(J3, BlocksNothingWhenSeveralMayBeUnderWay) {
  rules.one_at_a_time = false;
  (void)at(0, {request(0, 1)});
  const Answer answer = at(1, {request(0, 2, kZero)});
  EXPECT_THAT(sent(answer), ElementsAre(std::pair(0U, 2U)));
  ASSERT_EQ(table().document(0).under_way.size(), 2U);
  EXPECT_EQ(table().document(0).under_way.at(0).targets, kOne);
  EXPECT_EQ(answer.processing, 1U);
}

TEST_F(J4, DropsWhatHasExpiredAtItsArrival) {
  EXPECT_THAT(at(10, {request(0, 1, kBoth, {.expires_at = 10})}).verdicts, ElementsAre(kIsExpired));
  EXPECT_THAT(at(11, {request(0, 1)}).verdicts, ElementsAre(kIsDuplicate));
  EXPECT_THAT(at(12, {result(0, 1, kZero)}).verdicts,
              ElementsAre(Verdict{Outcome::kDeadLettered, Reason::kUnregistered}));
}

TEST_F(J4, DropsWhatExpiresWhileItWaits) {
  (void)at(0, {request(0, 1, kBoth, {.process_at = 50, .expires_at = 40})});
  EXPECT_EQ(at(39).waiting, 1U);
  EXPECT_EQ(at(40).waiting, 0U);
  EXPECT_THAT(sent(at(50)), IsEmpty());
}

TEST_F(J4, RemovesWhatIsPendingAtTheOlderOrderThatWasTakenOver) {
  (void)at(0, {request(0, 1)});
  (void)at(10, {request(0, 2, kZero, {.process_at = 250, .expires_at = 130})});
  (void)at(100);  // order 1 comes back without target 0
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.expires_at, UnixMs()) << "never is the largest";
  (void)at(110, {command(Kind::kExpire, 0, 0, kZero)});
  EXPECT_EQ(table().document(0).targets.at(TargetNumber(0)).state, TargetState::kRemoved);
  EXPECT_EQ(table().document(0).targets.at(TargetNumber(1)).state, TargetState::kPending);
}

TEST_F(J4, LeavesWhatIsStillUnderWay) {
  (void)at(0, {request(0, 1)});
  (void)at(10, {request(0, 2, kZero, {.expires_at = 20})});
  (void)at(20);
  EXPECT_THAT(at(21, {result(0, 1, kZero)}).verdicts, ElementsAre(kReleases));
}

TEST_F(J4, RemovesWhatCameBackAndExpires) {
  (void)at(0, {request(0, 1, kBoth, {.expires_at = 90})});
  (void)at(100);
  const Answer answer = at(100);
  EXPECT_EQ(answer.waiting + answer.processing, 0U);
  EXPECT_EQ(table().document(0).targets.at(TargetNumber(0)).state, TargetState::kRemoved);
}

TEST_F(J4, LetsAnOperatorDropWhatWaits) {
  EXPECT_THAT(at(0, {request(0, 1, kBoth, {.process_at = 50}), command(Kind::kExpire, 0, 0, std::nullopt)}).verdicts,
              ElementsAre(kIsExpired, Verdict{Outcome::kApplied, Reason::kNone}));
  EXPECT_THAT(at(1, {command(Kind::kExpire, 0, 0, std::nullopt)}).verdicts,
              ElementsAre(Verdict{Outcome::kDropped, Reason::kNoChange}));
  EXPECT_THAT(at(1, {command(Kind::kExpire, 1, 0, std::nullopt)}).verdicts,
              ElementsAre(Verdict{Outcome::kDropped, Reason::kUnregistered}));
}

TEST_F(J5, MergesTheSameOrderAndKeepsTheCounter) {
  rules.timeouts_max = 5;
  (void)at(0, {request(0, 1)});
  (void)at(100);
  (void)at(100);
  (void)at(200);
  ASSERT_EQ(table().document(0).waiting.size(), 1U);
  EXPECT_EQ(table().document(0).waiting.at(0).losses, 2U);
  EXPECT_THAT(at(210, {request(0, 1, kBoth, {.priority = 7})}).verdicts, ElementsAre(kIsDuplicate));
  EXPECT_EQ(table().document(0).waiting.at(0).losses, 2U);
  EXPECT_EQ(table().document(0).waiting.at(0).urgency.priority, 7);
}

TEST_F(J5, RefusesAnotherPayload) {
  (void)at(0, {request(0, 1, kBoth, {.process_at = 50})});
  Input other = request(0, 1);
  other.hash = 99;
  EXPECT_THAT(at(1, {other}).verdicts, ElementsAre(Verdict{Outcome::kDeadLettered, Reason::kSequenceReused}));
}

TEST_F(DispatchOrder, IsPriorityThenDateThenArrival) {
  rules.in_flight_max = 3;
  const Answer answer = at(9, {request(0, 1, kBoth, {.process_at = 8}), request(1, 1, kBoth, {.process_at = 7}),
                               request(2, 1, kBoth, {.priority = 101})});
  EXPECT_THAT(sent(answer), ElementsAre(std::pair(1U, 1U), std::pair(0U, 1U), std::pair(2U, 1U)));
}

TEST_F(DispatchOrder, LetsWhatCameFirstGoFirst) {
  rules.in_flight_max = 1;
  EXPECT_THAT(sent(at(0, {request(2, 1), request(0, 1)})), ElementsAre(std::pair(2U, 1U)));
}

TEST_F(DispatchOrder, PassesOverWhatIsNotDueOrBlocked) {
  (void)at(0, {request(0, 1)});
  const Answer answer = at(1, {request(0, 2, kBoth, {.priority = 0}),
                               request(1, 1, kBoth, {.priority = 0, .process_at = 9}), request(2, 1)});
  EXPECT_THAT(sent(answer), ElementsAre(std::pair(2U, 1U)));
}

TEST_F(DispatchOrder, LetsIdleWorkGoWhenNothingMoreUrgentIsUnderWay) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(sent(at(1, {request(1, 1, kBoth, {.priority = 200})})), IsEmpty());
  EXPECT_THAT(sent(at(2, {result(0, 1, kZero), result(0, 1, kOne)})), ElementsAre(std::pair(1U, 1U)));
}

TEST_F(DispatchOrder, LetsIdleWorkGoBesideWorkOfItsPriority) {
  EXPECT_THAT(sent(at(0, {request(0, 1, kBoth, {.priority = 200}), request(1, 1, kBoth, {.priority = 200}),
                          request(2, 1, kBoth, {.priority = 201})})),
              ElementsAre(std::pair(0U, 1U), std::pair(1U, 1U)));
}

TEST_F(DispatchOrder, HasNoIdleWorkBelowTheFirstIdlePriority) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(sent(at(1, {request(1, 1, kBoth, {.priority = 199})})), ElementsAre(std::pair(1U, 1U)));
}

TEST_F(DispatchOrder, WaitsForConsolidationFromTheKeptInsertion) {
  rules.consolidate_ms = 40;
  (void)at(0, {request(0, 1)});
  (void)at(30, {request(0, 2, kBoth, {.timestamp = 30})});
  EXPECT_THAT(sent(at(39)), IsEmpty());
  EXPECT_THAT(sent(at(40)), ElementsAre(std::pair(0U, 2U)));
}

TEST_F(DispatchOrder, PutsWhatIsStuckBehindAllOthers) {
  rules.timeouts_max = 0;
  rules.in_flight_max = 1;
  (void)at(0, {request(0, 1, kBoth, {.priority = 0})});
  (void)at(100);  // stuck: the longest back-off at once
  EXPECT_EQ(table().document(0).waiting.at(0).retry_at, UnixMs(600'100));
  EXPECT_THAT(sent(at(600'100, {request(1, 1, kBoth, {.priority = 255})})), ElementsAre(std::pair(1U, 1U)));
}

TEST_F(Leases, AreLostAtTheirEndAndDispatchedAgainWithTheNextBatch) {
  (void)at(0, {request(0, 1)});
  EXPECT_EQ(at(99).processing, 1U);
  EXPECT_EQ(at(100).waiting, 1U);
  EXPECT_THAT(at(100).dispatched, ElementsAre(Dispatched{0, 1, kBoth, 2, UnixMs(200)}));
}

TEST_F(Leases, BackOffFromTheSecondLossAndDouble) {
  rules.timeouts_max = 9;
  (void)at(0, {request(0, 1)});
  (void)at(100);
  (void)at(100);
  (void)at(200);
  EXPECT_EQ(table().document(0).waiting.at(0).retry_at, UnixMs(1'200));
  EXPECT_THAT(sent(at(1'199)), IsEmpty());
  EXPECT_THAT(sent(at(1'200)), ElementsAre(std::pair(0U, 1U)));
  (void)at(1'300);
  EXPECT_EQ(table().document(0).waiting.at(0).retry_at, UnixMs(3'300));
}

TEST_F(Leases, LeaveTheirBackOffToNoNewerOrder) {
  rules.timeouts_max = 9;
  (void)at(0, {request(0, 1)});
  (void)at(100);
  (void)at(100);
  (void)at(200);
  EXPECT_THAT(sent(at(300, {request(0, 2)})), ElementsAre(std::pair(0U, 2U)));
}

TEST_F(Leases, AreRenewedByTheAttemptUnderWayFromItsTimestamp) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(at(50, {heartbeat(0, 1, 1, 40)}).verdicts, ElementsAre(Verdict{Outcome::kApplied, Reason::kNone}));
  EXPECT_EQ(table().document(0).under_way.at(0).lease_until, UnixMs(140));
  (void)at(60, {heartbeat(0, 1, 1, 999)});
  EXPECT_EQ(table().document(0).under_way.at(0).lease_until, UnixMs(160));
  (void)at(70, {heartbeat(0, 1, 1, 10), heartbeat(0, 1, 2, 70), heartbeat(0, 2, 1, 70)});
  EXPECT_EQ(table().document(0).under_way.at(0).lease_until, UnixMs(160));
}

TEST_F(Leases, CountOnlyIfACommandEndedWhatWasDispatchedLater) {
  rules.timeouts_max = 5;
  (void)at(0, {request(0, 1), request(1, 1)});
  (void)at(1, {result(1, 1, kZero)});  // has not ended
  (void)at(100);
  (void)at(100);
  EXPECT_EQ(table().document(0).under_way.at(0).losses, 1U);
  EXPECT_EQ(table().document(0).under_way.at(0).timeouts, 0U);
  (void)at(101, {result(1, 1, kOne, 2)});
  (void)at(200);
  EXPECT_EQ(table().document(0).waiting.at(0).timeouts, 1U);
}

TEST_F(Leases, DoNotCountWhatAnOperatorEnded) {
  rules.timeouts_max = 5;
  (void)at(0, {request(0, 1), request(1, 1)});
  (void)at(1, {command(Kind::kExpire, 1, 0, std::nullopt)});
  (void)at(100);
  (void)at(100);
  EXPECT_EQ(table().document(0).under_way.at(0).timeouts, 0U);
}

TEST_F(Leases, EndInADeadLetterAfterTooManyTimeouts) {
  rules.timeouts_max = 0;
  (void)at(0, {request(0, 1), request(1, 1)});
  (void)at(1, {result(1, 1, kZero), result(1, 1, kOne)});
  (void)at(100);
  const Answer answer = at(100);
  EXPECT_THAT(answer.timed_out, ElementsAre(TimedOut{0, 1}));
  EXPECT_EQ(answer.waiting + answer.processing, 0U);
  EXPECT_EQ(table().document(0).targets.at(TargetNumber(0)).state, TargetState::kRemoved);
}

TEST_F(Attempts, OfALateResultAreWelcome) {
  (void)at(0, {request(0, 1)});
  (void)at(100);
  (void)at(100);
  EXPECT_THAT(at(110, {result(0, 1, kZero, 1)}).verdicts, ElementsAre(kReleases));
}

TEST_F(Attempts, NeedNotBeSaid) {
  (void)at(0, {request(0, 1)});
  (void)at(100);
  (void)at(100);
  EXPECT_THAT(at(110, {result(0, 1, kOne, 0)}).verdicts, ElementsAre(kReleases));
}

TEST_F(Attempts, HaveToBeSaidAboveTheFirstWhereOnlyTheLastCounts) {
  rules.last_attempt_only = true;
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(at(50, {result(0, 1, kZero, 0)}).verdicts, ElementsAre(kReleases));
  (void)at(100);
  (void)at(100);
  EXPECT_THAT(at(110, {result(0, 1, kOne, 0)}).verdicts,
              ElementsAre(Verdict{Outcome::kDeadLettered, Reason::kAttemptMissing}));
}

TEST_F(Attempts, BeforeTheLastAreRefusedWhereOnlyTheLastCounts) {
  rules.last_attempt_only = true;
  (void)at(0, {request(0, 1)});
  (void)at(100);
  (void)at(100);
  EXPECT_THAT(at(110, {result(0, 1, kZero, 1), result(0, 1, kZero, 2)}).verdicts,
              ElementsAre(Verdict{Outcome::kDropped, Reason::kAttemptBehind}, kReleases));
}

TEST_F(Barriers, RefuseRequestsAndRegistersFromTheArrival) {
  (void)at(0, {delete_all(0, 5, {.process_at = 50})});
  EXPECT_THAT(at(1, {request(0, 4, kAllTargets), command(Kind::kRegister, 0, 4, kAllTargets)}).verdicts,
              ElementsAre(kIsSuperseded, kIsSuperseded));
}

TEST_F(Barriers, StandAlsoWhenTheDeleteIsSuperseded) {
  EXPECT_THAT(at(0, {delete_all(0, 5, {.process_at = 50}), request(0, 6, kAllTargets)}).verdicts,
              ElementsAre(kIsSuperseded, kWaits));
  EXPECT_THAT(at(1, {command(Kind::kRegister, 0, 4, kAllTargets)}).verdicts, ElementsAre(kIsSuperseded));
}

TEST_F(Barriers, StopResultsFromTheDispatchOn) {
  (void)at(0, {request(0, 1)});
  EXPECT_THAT(at(1, {delete_all(0, 5), result(0, 1, kZero)}).verdicts, ElementsAre(kWaits, kReleases));
  (void)at(2, {result(0, 1, kOne)});
  EXPECT_THAT(at(3, {result(0, 1, kAllTargets.without(kBoth))}).verdicts,
              ElementsAre(Verdict{Outcome::kDropped, Reason::kSuperseded}));
}

}  // namespace
}  // namespace reseq::journal
