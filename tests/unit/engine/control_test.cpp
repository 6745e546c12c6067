// Operations that concern a whole partition, and that every operation is told of. Those that concern a document are
// judged in tests/property.
#include <gtest/gtest.h>

#include "engine/batch.h"
#include "map_state.h"

namespace reseq::engine {
namespace {

constexpr Version kFloor{std::uint64_t{1} << 50};

class Control : public testing::Test {
 protected:
  Control() { context_.policies.events = EventPolicy::kNone; }

  // Decides one operation in a batch of its own, and gives back its event.
  Event after(const Command& command) {
    Batch batch(state_, state_.partition, context_);
    EXPECT_EQ(batch.decide(command, Offset(0), true), Taken::kDecided);
    batch.close();
    EXPECT_TRUE(batch.emissions().empty());
    EXPECT_EQ(batch.events().size(), 1U) << "an operation is told of whatever the policy";
    decided_ = batch.decisions()[0];
    state_.commit(batch);
    return batch.events().empty() ? Event() : batch.events()[0];
  }

  MapState state_;
  Context context_ = two_targets();
  Decision decided_;
};

TEST_F(Control, RaisesAFloorAndNeverLowersIt) {
  const Event event = after(RaiseFloor{false, kFloor, std::nullopt, Version(0)});
  EXPECT_EQ(event.kind, EventKind::kOperation);
  EXPECT_EQ(event.decision, (Decision{Outcome::kApplied, Reason::kNone, TableRow::kControl}));
  EXPECT_EQ(event.version, kFloor);
  EXPECT_EQ(state_.partition.floors.global, kFloor);
  EXPECT_EQ(after(RaiseFloor{false, Version(5), std::nullopt, {}}).decision.reason, Reason::kNoChange);
  EXPECT_EQ(state_.partition.floors.global, kFloor);
}

TEST_F(Control, RaisesTheFloorOfOneTarget) {
  EXPECT_EQ(after(RaiseFloor{false, kFloor, kCatalogue, {}}).target, kCatalogue);
  EXPECT_EQ(state_.partition.floors, (Floors{Version(), {{kCatalogue, kFloor}}}));
}

TEST_F(Control, LeavesTheFloorWhenAnotherWasExpectedOrNothingWouldBeLeft) {
  EXPECT_EQ(after(RaiseFloor{false, kFloor, kSearch, Version(3)}).decision.reason, Reason::kUnexpectedState);
  const Version last(kVersionLimit - 1);
  EXPECT_EQ(after(RaiseFloor{false, last, kSearch, {}}).decision.reason, Reason::kVersionExhausted);
  EXPECT_EQ(state_.partition.floors, Floors()) << "no target has a floor of 0";
}

TEST_F(Control, PausesAndResumesOnce) {
  EXPECT_EQ(after(Pause{false, true}).decision.outcome, Outcome::kApplied);
  EXPECT_TRUE(state_.partition.paused);
  EXPECT_EQ(after(Pause{false, true}).decision.reason, Reason::kNoChange);
  EXPECT_EQ(after(Pause{false, false}).decision.outcome, Outcome::kApplied);
  EXPECT_FALSE(state_.partition.paused);
}

TEST_F(Control, TellsOfADryRunWhatWouldHaveBeenAndCountsIt) {
  const Event event = after(Pause{true, true});
  EXPECT_TRUE(event.dry_run);
  EXPECT_EQ(event.decision.outcome, Outcome::kApplied);
  EXPECT_EQ(decided_, (Decision{Outcome::kDropped, Reason::kDryRun, TableRow::kControl}));
  EXPECT_FALSE(state_.partition.paused);
  EXPECT_EQ(after(RaiseFloor{true, kFloor, std::nullopt, {}}).decision.outcome, Outcome::kApplied);
  EXPECT_EQ(state_.partition.floors, Floors());
}

TEST_F(Control, KeepsADryRunOfAReleaseInside) {
  const ReleaseByHand command{true, true, result("a", 1, kSearch), {}};
  const Event event = after(command);
  EXPECT_EQ(event.decision.outcome, Outcome::kReleased);
  EXPECT_FALSE(event.version);
  EXPECT_TRUE(state_.rows.empty());
}

TEST_F(Control, ReleasesNothingOfADocumentThatIsNotKnownUnlessItIsSaid) {
  const Event event = after(ReleaseByHand{false, false, result("a", 1, kSearch), {}});
  EXPECT_EQ(event.decision, (Decision{Outcome::kDropped, Reason::kUnregistered, TableRow::kControl}));
  EXPECT_TRUE(state_.rows.empty()) << "it may have been forgotten, and a newer result be out";
}

TEST_F(Control, ReleasesNothingAheadOfAllRequestsUnlessItIsSaid) {
  Batch batch(state_, state_.partition, context_);
  ASSERT_EQ(batch.decide(request("a", 3), Offset(0), true), Taken::kDecided);
  batch.close();
  state_.commit(batch);
  const auto would = [&](std::uint64_t number, bool unknown) {
    return after(ReleaseByHand{true, unknown, result("a", number, kSearch), {}}).decision;
  };
  EXPECT_EQ(would(4, false), (Decision{Outcome::kDropped, Reason::kUnregistered, TableRow::kControl}));
  EXPECT_EQ(would(4, true).outcome, Outcome::kReleased);
  EXPECT_EQ(would(3, false).outcome, Outcome::kReleased);
  EXPECT_EQ(would(2, false).reason, Reason::kSuperseded);
}

TEST_F(Control, ReleasesNothingForATargetOfWhichNothingIsKnownUnlessItIsSaid) {
  Batch batch(state_, state_.partition, context_);
  ASSERT_EQ(batch.decide(request("a", 20, TargetSet::of(kSearch)), Offset(0), true), Taken::kDecided);
  batch.close();
  state_.commit(batch);
  const auto would = [&](std::uint64_t number, bool unknown) {
    return after(ReleaseByHand{true, unknown, result("a", number, kCatalogue), {}}).decision;
  };
  EXPECT_EQ(would(5, false), (Decision{Outcome::kDropped, Reason::kUnregistered, TableRow::kControl}))
      << "15 may have gone out to it, with the row that was before this one";
  EXPECT_EQ(would(5, true).outcome, Outcome::kReleased);
}

// That workers answer is what lets lost leases count: it must not be believed because an operator has helped.
TEST_F(Control, ReleasesWithoutBeingTakenForAWorkerThatAnswers) {
  context_.dispatch.journal = true;
  Row row;
  row.groups.push_back({order_of(1), true, TargetSet::of(kSearch), {}, {}});
  row.since.push_back({TargetSet::of(kSearch), UnixMs(1)});
  JournalEntry under_way;
  under_way.order = order_of(1);
  under_way.state = EntryState::kProcessing;
  under_way.targets = TargetSet::of(kSearch);
  under_way.number = 7;
  under_way.attempt = 1;
  under_way.lease_until = UnixMs(1'000'000);
  under_way.dispatched_at = UnixMs(1);
  row.journal.push_back(under_way);
  for (const bool by_operator : {true, false}) {
    state_.rows["a"] = row;
    Batch batch(state_, state_.partition, context_);
    if (by_operator)
      EXPECT_EQ(batch.decide(ReleaseByHand{false, false, result("a", 1, kSearch), {}}, Offset(0), true),
                Taken::kDecided);
    else
      EXPECT_EQ(batch.decide(result("a", 1, kSearch), Offset(0), true), Taken::kDecided);
    batch.close();
    EXPECT_EQ(batch.decisions()[0].outcome, Outcome::kReleased);
    EXPECT_TRUE(batch.changes()[0].row->journal.empty()) << "it has ended";
    EXPECT_EQ(batch.state().journal_answered, by_operator ? 0U : 7U);
  }
}

TEST_F(Control, TellsOfADryRunOfWhatWaitsWhatWouldHaveBeen) {
  context_.dispatch.journal = true;
  Wish wish;
  wish.process_at = UnixMs(5000);
  Request waits = request("a", 3);
  waits.wish = &wish;
  Batch batch(state_, state_.partition, context_);
  ASSERT_EQ(batch.decide(waits, Offset(0), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(DispatchByHand{true, "a", {}, {}, {}}, Offset(0), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(DispatchByHand{true, "a", {}, UnixMs(6000), {}}, Offset(1), true), Taken::kDecided);
  batch.close();
  ASSERT_EQ(batch.changes().size(), 1U);
  EXPECT_EQ(batch.changes()[0].row->journal.begin()->urgency.process_at, UnixMs(5000));
  for (const Event& event : batch.events()) {
    EXPECT_EQ(event.decision.outcome, Outcome::kApplied);
    EXPECT_TRUE(event.dry_run);
    EXPECT_EQ(event.expected, (Order{Epoch(), sequence_of(3), Revision()})) << "it waits, and is the newest request";
  }
  EXPECT_EQ(batch.events().size(), 2U) << "whatever the policy";
}

}  // namespace
}  // namespace reseq::engine
