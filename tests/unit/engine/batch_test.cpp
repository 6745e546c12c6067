// Batch: what leaves it, in which order, and what it promises beside the decisions themselves.
#include "engine/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "map_state.h"

namespace reseq::engine {
namespace {

template <typename What>
std::vector<std::pair<InputIndex, What>> emitted(const Batch& batch) {
  std::vector<std::pair<InputIndex, What>> found;
  for (const Emission& emission : batch.emissions())
    if (const What* what = std::get_if<What>(&emission.what)) found.emplace_back(emission.input, *what);
  return found;
}

Context with_events(EventPolicy policy) {
  Context context = two_targets();
  context.policies.events = policy;
  return context;
}

Taken decide(Batch& batch, const Command& command, bool requests_read = true) {
  return batch.decide(command, Offset(0), requests_read);
}

Refused refused(Reason reason, bool for_policy = false) {
  return {reason, for_policy, "bad"};
}

TEST(Batch, ThatDecidedNothingChangesOnlyTheClock) {
  MapState state;
  const Context context = with_events(EventPolicy::kAll);
  Batch batch(state, state.partition, context);
  batch.close();
  EXPECT_TRUE(batch.decisions().empty());
  EXPECT_TRUE(batch.emissions().empty());
  EXPECT_TRUE(batch.changes().empty());
  PartitionState expected;
  expected.clock = Version(std::uint64_t{1000} << 16);
  EXPECT_EQ(batch.state(), expected);
}

TEST(Batch, ReportsADocumentOnceAndInTheOrderOfFirstChange) {
  MapState state;
  const Context context = two_targets();
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, result("untouched", 1, kSearch)), Taken::kDecided);
  for (const char* id : {"z", "a", "z", "m"}) EXPECT_EQ(decide(batch, request(id, 1)), Taken::kDecided);
  EXPECT_EQ(decide(batch, result("z", 1, kSearch)), Taken::kDecided);
  batch.close();
  ASSERT_EQ(batch.changes().size(), 3U);
  EXPECT_EQ(batch.changes()[0].id, "z");
  EXPECT_EQ(batch.changes()[1].id, "a");
  EXPECT_EQ(batch.changes()[2].id, "m");
  EXPECT_EQ(batch.changes()[0].row->groups[0].served, targets({kSearch}));
}

TEST(Batch, AMissThatHasToWaitChangesNothingAndGetsNoNumber) {
  MapState state;
  const Context context = with_events(EventPolicy::kAll);
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, result("a", 1, kSearch), false), Taken::kRequestsFirst);
  EXPECT_EQ(decide(batch, registration("b", 1), false), Taken::kRequestsFirst);
  EXPECT_EQ(decide(batch, unregister("c", 1, targets({kSearch})), false), Taken::kRequestsFirst);
  batch.close();
  EXPECT_TRUE(batch.decisions().empty());
  EXPECT_TRUE(batch.emissions().empty());
  EXPECT_TRUE(batch.changes().empty());
}

TEST(Batch, PolicyStopLeavesTheInputUnread) {
  MapState state;
  Context context = two_targets();
  context.policies.on_missing = OnMissing::kStop;
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, refused(Reason::kMissingSequence, true)), Taken::kStop);
  EXPECT_EQ(decide(batch, refused(Reason::kMissingSequence, false)), Taken::kDecided);
  batch.close();
  ASSERT_EQ(batch.decisions().size(), 1U);
  EXPECT_EQ(emitted<DeadLetter>(batch).size(), 1U);
}

TEST(Batch, TellsWhichRequestsAreOlderThanWhatIsKnownAndNotReadAgain) {
  MapState state;
  const Context context = two_targets();
  {
    Batch batch(state, state.partition, context);
    EXPECT_EQ(batch.decide(request("a", 4), Offset(9), true), Taken::kDecided);
    EXPECT_EQ(batch.decide(request("a", 5), Offset(10), true), Taken::kDecided);
    batch.close();
    EXPECT_TRUE(batch.older_requests().empty()) << "one that is superseded within its batch came before the newer one";
    state.commit(batch);
  }
  Batch batch(state, state.partition, context);
  EXPECT_EQ(batch.decide(request("b", 1), Offset(11), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(request("a", 4), Offset(9), true), Taken::kDecided);  // as `seek` makes it
  EXPECT_EQ(batch.decide(request("a", 4), Offset(12), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(request("a", 5), Offset(13), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(request("a", 3), Offset(14), true), Taken::kDecided);
  EXPECT_EQ(decide(batch, result("a", 4, kSearch)), Taken::kDecided);
  batch.close();
  EXPECT_THAT(batch.older_requests(), testing::ElementsAre(InputIndex(2), InputIndex(4)));
}

// With intake `tap` the pipeline may be done before its requests are read here.
TEST(Batch, TellsOfNoOlderRequestWhereAResultWasFasterThanItsRequests) {
  MapState state;
  Context context = two_targets();
  context.intake = Intake::kTap;
  Batch batch(state, state.partition, context);
  EXPECT_EQ(batch.decide(result("a", 2, kSearch), Offset(0), false), Taken::kRequestsFirst);
  EXPECT_EQ(batch.decide(request("a", 1), Offset(10), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(request("a", 2), Offset(11), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(result("a", 2, kSearch), Offset(0), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(request("a", 2), Offset(11), true), Taken::kDecided) << "read again";
  batch.close();
  EXPECT_TRUE(batch.older_requests().empty());
}

TEST(Batch, TellsThatARequestIsOlderAlsoIfOnlyItsEpochIs) {
  MapState state;
  const Context context = two_targets();
  {
    Batch batch(state, state.partition, context);
    Request newest = request("a", 5);
    newest.what.epoch = Epoch(1);
    EXPECT_EQ(batch.decide(newest, Offset(1), true), Taken::kDecided);
    batch.close();
    state.commit(batch);
  }
  Batch batch(state, state.partition, context);
  EXPECT_EQ(batch.decide(request("a", 6), Offset(2), true), Taken::kDecided);
  batch.close();
  EXPECT_EQ(batch.decisions().front().reason, Reason::kEpochBehind);
  EXPECT_THAT(batch.older_requests(), testing::ElementsAre(InputIndex(0)));
}

TEST(Batch, TellsThatARequestIsOlderThanOneThatWaits) {
  MapState state;
  Context context = two_targets();
  context.dispatch.journal = true;
  Wish wish;
  wish.process_at = UnixMs(context.now.value() + 1'000);
  Request waits = request("a", 5);
  waits.wish = &wish;
  Batch batch(state, state.partition, context);
  EXPECT_EQ(batch.decide(request("b", 1), Offset(1), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(waits, Offset(2), true), Taken::kDecided);
  EXPECT_EQ(batch.decide(request("a", 4), Offset(1), true), Taken::kDecided);  // as `seek` makes it
  EXPECT_EQ(batch.decide(request("a", 4), Offset(3), true), Taken::kDecided);
  batch.close();
  EXPECT_THAT(batch.older_requests(), testing::ElementsAre(InputIndex(3)));
}

TEST(Batch, EmissionsAndEventsComeInInputOrder) {
  MapState state;
  const Context context = with_events(EventPolicy::kAll);
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, request("a", 1)), Taken::kDecided);
  EXPECT_EQ(decide(batch, refused(Reason::kMalformedHeader)), Taken::kDecided);
  EXPECT_EQ(decide(batch, result("a", 1, kSearch)), Taken::kDecided);
  batch.close();
  const auto emissions = batch.emissions();
  ASSERT_EQ(emissions.size(), 3U);
  ASSERT_EQ(batch.events().size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Forward>(emissions[0].what));
  EXPECT_TRUE(std::holds_alternative<DeadLetter>(emissions[1].what));
  EXPECT_TRUE(std::holds_alternative<Release>(emissions[2].what));
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(emissions[i].input, InputIndex(i));
    EXPECT_EQ(batch.events()[i].input, InputIndex(i));
  }
}

TEST(Batch, TheEventOfAReleaseSaysOrderTargetAndVersion) {
  MapState state;
  const Context context = with_events(EventPolicy::kAll);
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, request("a", 5)), Taken::kDecided);
  EXPECT_EQ(decide(batch, result("a", 5, kCatalogue)), Taken::kDecided);
  batch.close();
  const Event event = batch.events()[1];
  EXPECT_EQ(event.kind, EventKind::kOutcome);
  EXPECT_EQ(event.id, "a");
  EXPECT_EQ(event.decision, (Decision{Outcome::kReleased, Reason::kNone, TableRow::kS1}));
  EXPECT_EQ(event.order, order_of(5));
  EXPECT_EQ(event.expected, order_of(5));
  EXPECT_EQ(event.target, kCatalogue);
  EXPECT_EQ(event.version, emitted<Release>(batch)[0].second.version);
}

TEST(Batch, EventsOfDropsLeaveOutWhatWentWell) {
  MapState state;
  Context context = with_events(EventPolicy::kDrops);
  context.policies.on_missing = OnMissing::kRedirect;
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, request("a", 5)), Taken::kDecided);
  EXPECT_EQ(decide(batch, request("a", 5)), Taken::kDecided);
  EXPECT_EQ(decide(batch, refused(Reason::kMalformedHeader)), Taken::kDecided);
  EXPECT_EQ(decide(batch, refused(Reason::kMissingSequence, true)), Taken::kDecided);
  EXPECT_EQ(decide(batch, result("a", 5, kSearch)), Taken::kDecided);
  EXPECT_EQ(decide(batch, Reset{Epoch(3)}), Taken::kDecided);
  EXPECT_EQ(decide(batch, Reset{Epoch(2)}), Taken::kDecided);
  batch.close();
  const auto events = batch.events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].decision.reason, Reason::kDuplicate);
  EXPECT_EQ(events[1].id, "bad");
  EXPECT_EQ(events[2].decision.outcome, Outcome::kRedirected);
  EXPECT_EQ(events[3].kind, EventKind::kReset);
  EXPECT_EQ(events[3].input, InputIndex(5));
  EXPECT_EQ(events[3].order->epoch, Epoch(3));
  EXPECT_EQ(events[4].order->epoch, Epoch(3)) << "a lower epoch changes nothing";
}

TEST(Batch, WithoutEventsOnlyAnOverdueDocumentIsReported) {
  MapState state;
  Context context = two_targets();
  context.registration_timeout = Milliseconds(10);
  {
    Batch batch(state, state.partition, context);
    EXPECT_EQ(decide(batch, request("a", 5)), Taken::kDecided);
    EXPECT_EQ(decide(batch, Reset{Epoch(0)}), Taken::kDecided);
    batch.close();
    EXPECT_TRUE(batch.events().empty());
    state.commit(batch);
  }
  context.now = UnixMs(1010);
  Batch batch(state, state.partition, context);
  {
    const std::string gone_after_the_call = "a";
    batch.fire_overdue(gone_after_the_call);
    batch.fire_overdue(gone_after_the_call);
  }
  batch.close();
  const auto events = batch.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].input, kNoInput);
  EXPECT_EQ(events[0].kind, EventKind::kOverdue);
  EXPECT_EQ(events[0].id, "a");
  EXPECT_EQ(events[0].order, order_of(5));
  EXPECT_EQ(events[0].targets, targets({kSearch, kCatalogue}));
  ASSERT_EQ(batch.changes().size(), 1U);
  EXPECT_EQ(batch.changes()[0].id, "a");
}

TEST(Batch, ADeadLetterSaysTheOrderThatWasExpected) {
  MapState state;
  const Context context = two_targets();
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, request("a", 5)), Taken::kDecided);
  EXPECT_EQ(decide(batch, result("a", 9, kSearch)), Taken::kDecided);
  EXPECT_EQ(decide(batch, result("b", 9, kSearch)), Taken::kDecided);
  batch.close();
  const auto letters = emitted<DeadLetter>(batch);
  ASSERT_EQ(letters.size(), 2U);
  EXPECT_EQ(letters[0].second.expected, order_of(5));
  EXPECT_EQ(letters[1].second.expected, std::nullopt);
}

TEST(Batch, AWithdrawnForwardIsADropWithItsNewerOrderExpected) {
  MapState state;
  const Context context = with_events(EventPolicy::kDrops);
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, request("a", 5)), Taken::kDecided);
  EXPECT_EQ(decide(batch, request("a", 6)), Taken::kDecided);
  batch.close();
  EXPECT_EQ(batch.decisions()[0], (Decision{Outcome::kDropped, Reason::kSuperseded, TableRow::kR1}));
  EXPECT_EQ(emitted<Forward>(batch).size(), 1U);
  const auto events = batch.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].decision, batch.decisions()[0]);
  EXPECT_EQ(events[0].expected, order_of(6));
}

TEST(Batch, TheEventOfAWithdrawnForwardStandsWhereItsInputDoes) {
  for (const EventPolicy policy : {EventPolicy::kDrops, EventPolicy::kAll}) {
    MapState state;
    const Context context = with_events(policy);
    Batch batch(state, state.partition, context);
    EXPECT_EQ(decide(batch, refused(Reason::kMalformedHeader)), Taken::kDecided);
    EXPECT_EQ(decide(batch, request("a", 5)), Taken::kDecided);
    EXPECT_EQ(decide(batch, request("b", 5)), Taken::kDecided);
    EXPECT_EQ(decide(batch, request("b", 5)), Taken::kDecided);
    EXPECT_EQ(decide(batch, request("a", 6)), Taken::kDecided);
    batch.close();
    std::vector<std::uint32_t> inputs;
    for (const Event& event : batch.events()) {
      inputs.push_back(event.input.value());
      EXPECT_EQ(event.decision, batch.decisions()[event.input.value()]);
    }
    const bool all = policy == EventPolicy::kAll;
    EXPECT_EQ(inputs, all ? std::vector<std::uint32_t>({0, 1, 2, 3, 4}) : std::vector<std::uint32_t>({0, 1, 3}));
    EXPECT_EQ(batch.events()[1].order, order_of(5));
    EXPECT_EQ(batch.events()[1].expected, order_of(6));
  }
}

TEST(Batch, ARequestIsNotedWithPositionHashAndWhatWasForwarded) {
  MapState state;
  const Context context = two_targets();
  Batch batch(state, state.partition, context);
  Request command = request("a", 5);
  command.hash = PayloadHash(77);
  EXPECT_EQ(batch.decide(command, Offset(123), true), Taken::kDecided);
  batch.close();
  const Requested expected{order_of(5), Offset(123), PayloadHash(77), targets({kSearch, kCatalogue})};
  EXPECT_EQ(batch.changes()[0].row->requested, expected);
}

TEST(Batch, KeepsExtensionsOfARowThatItChanges) {
  MapState state;
  const Context context = two_targets();
  Row row;
  row.extensions = "kept";
  Group group;
  group.order = order_of(1);
  group.pending = targets({kSearch});
  row.groups.push_back(group);
  state.rows.emplace("a", row);
  Batch batch(state, state.partition, context);
  EXPECT_EQ(decide(batch, result("a", 1, kSearch)), Taken::kDecided);
  batch.close();
  EXPECT_EQ(batch.changes()[0].row->extensions, "kept");
}

TEST(Batch, GivesTheSameEffectsForTheSameInputs) {
  const auto run = [] {
    MapState state;
    const Context context = with_events(EventPolicy::kAll);
    Batch batch(state, state.partition, context);
    std::vector<std::string> ids;
    for (int i = 0; i < 1000; ++i) ids.push_back("document " + std::to_string(i * 7919 % 1000));
    for (const std::string& id : ids) EXPECT_EQ(decide(batch, request(id, 1)), Taken::kDecided);
    for (const std::string& id : ids) EXPECT_EQ(decide(batch, result(id, 1, kSearch)), Taken::kDecided);
    batch.close();
    std::string order;
    for (const RowChange& change : batch.changes()) order += std::string(change.id) + ";";
    for (const auto& [input, release] : emitted<Release>(batch))
      order += std::to_string(input.value()) + "=" + std::to_string(release.version.value()) + ";";
    return order;
  };
  EXPECT_EQ(run(), run());
}

using BatchDeathTest = testing::Test;

TEST(BatchDeathTest, AnInputAfterCloseIsABugOfTheCaller) {
  MapState state;
  const Context context = two_targets();
  Batch batch(state, state.partition, context);
  batch.close();
  EXPECT_DEATH(static_cast<void>(decide(batch, request("a", 1))), "behind the agenda");
}

}  // namespace
}  // namespace reseq::engine
