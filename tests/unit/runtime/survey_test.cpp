#include "runtime/worker/survey.h"

#include <gtest/gtest.h>

#include "engine/standing.h"
#include "tests/unit/store/rows.h"

namespace reseq::runtime {
namespace {

constexpr Milliseconds kStarvation{1'000};
const engine::DispatchRules kDispatch = [] {
  engine::DispatchRules rules;
  rules.journal = true;
  rules.in_flight_max = 2;
  return rules;
}();

JournalEntry entry_at(std::uint64_t sequence, EntryState state, std::uint8_t priority, std::int64_t process_at) {
  JournalEntry entry;
  entry.order.sequence = Sequence::of_number(sequence);
  entry.state = state;
  entry.targets = TargetSet(1);
  entry.number = sequence;
  entry.urgency.priority = priority;
  entry.urgency.inserted = entry.urgency.process_at = UnixMs(process_at);
  if (state == EntryState::kProcessing) entry.attempt = 1;
  if (state == EntryState::kProcessing) entry.lease_until = UnixMs(3'600'000);
  return entry;
}

Row queued(const JournalEntry& entry) {
  Row row;
  row.journal.push_back(entry);
  return row;
}

// Newer requests have come since.
Row waiting(std::int64_t since, bool overdue = false) {
  Row row = store::live(2, since + 500, overdue);
  row.since.push_back({TargetSet(1), UnixMs(since)});
  row.overtaken.push_back({TargetSet(1), Order{Epoch(), Sequence::of_number(1), Revision()}, UnixMs(since)});
  return row;
}

class SurveyTest : public testing::Test {
 protected:
  SurveyTest() { store::commit(store_, {store::identity_row().put(), store::meta_row(store::meta_of(1)).put()}); }
  void put(const std::string& id, const Row& row) { store::commit(store_, {store::document(id, row).put()}); }

  store::PartitionStore store_;
  Survey survey_;
};

TEST_F(SurveyTest, CountsWhatWaitsForLong) {
  put("old", waiting(1'000, true));
  put("starving", waiting(3'000));
  put("young", waiting(4'500));
  put("done", store::watermark(1));
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  ASSERT_TRUE(survey_.found());
  EXPECT_EQ(survey_.found()->overdue, 1U);
  EXPECT_EQ(survey_.found()->starving, 2U);
  EXPECT_EQ(survey_.found()->oldest, UnixMs(1'000));
  EXPECT_EQ(survey_.found()->at, UnixMs(5'000));
}

// What failed for good waits for nothing, and would be passed over.
TEST_F(SurveyTest, CountsWhatFailedAlsoOfDocumentsThatWaitForNothing) {
  Failure failure;
  failure.targets = TargetSet(1);
  failure.error = "no PDF";
  Row retrying = store::live(2);
  failure.order = retrying.groups.front().order;
  retrying.failures.push_back(failure);
  put("retrying", retrying);
  Row failed = store::watermark(2);
  failed.groups.front().removed = TargetSet(1);
  failed.groups.front().served = TargetSet();
  failure.for_good = true;
  failed.failures.push_back(failure);
  put("failed", failed);
  put("done", store::watermark(1));
  const auto counts = [&](bool with_failures, bool with_journal = false) {
    engine::DispatchRules rules = kDispatch;
    rules.failures = with_failures;
    rules.journal = with_journal;
    Survey survey;
    survey.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, rules);
    EXPECT_EQ(survey.found()->overdue, 0U);
    return survey.found()->failures->documents();
  };
  EXPECT_EQ(counts(true), (FailureCounts{1, 1}));
  EXPECT_EQ(counts(false, true), (FailureCounts{1, 1})) << "what lost too many leases has failed, too";
  EXPECT_EQ(counts(false), (FailureCounts{0, 1})) << "what waits for nothing is not decoded for nothing";
  store::commit(store_, {store::document("retrying", store::watermark(3)).put(),
                         store::document("failed", store::watermark(3)).put()});
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  EXPECT_EQ(survey_.found()->failures, nullptr);
}

// A request of a moment ago does not make its target one that was waited for too long, and `expire` goes by this.
TEST(OverdueTargets, AreThoseThatGotNothingForAsLongAsItTakes) {
  Row row = waiting(1'000, true);  // for half a second
  row.since.push_back({TargetSet(2), UnixMs(4'900)});
  row.groups.front().pending |= TargetSet(2);
  EXPECT_EQ(engine::overdue_targets(row, UnixMs(5'000)), TargetSet(1));
  EXPECT_EQ(engine::overdue_targets(row, UnixMs(5'400)), TargetSet(1) | TargetSet(2));
  row.overdue = false;
  EXPECT_TRUE(engine::overdue_targets(row, UnixMs(5'400)).empty()) << "nobody was told";
}

TEST_F(SurveyTest, NamesThoseThatWaitLongest) {
  put("old", waiting(1'000, true));
  put("starving", waiting(3'000));
  put("young", waiting(4'500));
  put("done", store::watermark(1));
  put(std::string(Survey::kLongestIdBytes + 1, 'x'), waiting(500));
  for (std::size_t i = 0; i < Survey::kLongestMax; ++i) put("newest-" + std::to_string(i), waiting(4'900));
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  const std::vector<Survey::Waiting>& longest = survey_.found()->longest;
  ASSERT_EQ(longest.size(), Survey::kLongestMax);
  EXPECT_EQ(longest[0].id, "old");
  EXPECT_EQ(longest[0].since, UnixMs(1'000));
  EXPECT_TRUE(longest[0].overdue && longest[0].starving);
  EXPECT_EQ(longest[1].id, "starving");
  EXPECT_FALSE(longest[1].overdue);
  EXPECT_TRUE(longest[1].starving);
  EXPECT_EQ(longest[2].id, "young");
  EXPECT_FALSE(longest[2].starving);
  EXPECT_EQ(longest[3].id.substr(0, 7), "newest-");
  EXPECT_EQ(survey_.found()->oldest, UnixMs(500));
}

TEST_F(SurveyTest, TakesNothingForStarvingWhosePipelineOnlyTakesItsTime) {
  Row slow = waiting(1'000);
  slow.overtaken.clear();
  put("slow", slow);
  slow.overtaken.push_back({TargetSet(1), slow.groups[0].order, UnixMs(900)});  // of an earlier wait
  put("slow again", slow);
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  ASSERT_TRUE(survey_.found());
  EXPECT_EQ(survey_.found()->starving, 0U);
}

TEST_F(SurveyTest, TakesNothingForStarvingThatIsServedWhileItWaits) {
  Row served = waiting(1'000);
  served.meanwhile.push_back({TargetSet(1), UnixMs(4'500)});
  put("served", served);
  served.meanwhile = {{TargetSet(1), UnixMs(4'000)}};
  put("served no more", served);
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  ASSERT_TRUE(survey_.found());
  EXPECT_EQ(survey_.found()->starving, 1U);
  EXPECT_EQ(survey_.found()->oldest, UnixMs(4'000));
  ASSERT_EQ(survey_.found()->longest.size(), 2U);
  EXPECT_EQ(survey_.found()->longest[0].id, "served no more");
  EXPECT_FALSE(survey_.found()->longest[1].starving);
}

TEST_F(SurveyTest, FindsNothingStarvingWithoutATimeForIt) {
  put("old", waiting(1));
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), Milliseconds(0), kDispatch);
  EXPECT_EQ(survey_.found()->starving, 0U);
}

TEST_F(SurveyTest, CountsForEachTargetWhatWaitsForIt) {
  Row both = waiting(2'000);
  both.groups[0].pending = TargetSet(0b101);
  both.since[0].targets = TargetSet(0b101);
  put("for both", both);
  put("old", waiting(1'000, true));
  put("done", store::watermark(1));
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  const std::vector<Survey::ForTarget>& targets = survey_.found()->targets;
  ASSERT_EQ(targets.size(), 3U);
  EXPECT_EQ(targets[0].waiting, 2U);
  EXPECT_EQ(targets[0].overdue, 1U);
  EXPECT_EQ(targets[0].oldest, UnixMs(1'000));
  EXPECT_EQ(targets[1].waiting, 0U);
  EXPECT_FALSE(targets[1].oldest);
  EXPECT_EQ(targets[2].waiting, 1U);
  EXPECT_EQ(targets[2].overdue, 0U);
  EXPECT_EQ(targets[2].oldest, UnixMs(2'000));
}

TEST_F(SurveyTest, TellsOfEachPriorityWhatIsDueForLongest) {
  put("later", queued(entry_at(1, EntryState::kWaiting, 3, 5'001)));
  put("now", queued(entry_at(1, EntryState::kWaiting, 7, 5'000)));
  put("old", queued(entry_at(1, EntryState::kWaiting, 100, 2'000)));
  put("oldest", queued(entry_at(1, EntryState::kWaiting, 100, 1'000)));
  Row both = queued(entry_at(2, EntryState::kWaiting, 5, 4'000));
  const JournalEntry under_way = entry_at(1, EntryState::kProcessing, 1, 500);
  both.journal.push_back(under_way);
  both.groups.push_back({under_way.order, true, TargetSet(1), {}, {}});
  both.since.push_back({TargetSet(1), UnixMs(4'900)});
  put("both", both);
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  ASSERT_TRUE(survey_.found());
  using Due = Survey::Due;
  EXPECT_EQ(survey_.found()->due, (std::vector<Due>{{5, UnixMs(4'000)}, {7, UnixMs(5'000)}, {100, UnixMs(1'000)}}));
  EXPECT_EQ(survey_.found()->stuck, 0U);
}

TEST_F(SurveyTest, CountsDocumentsThatNobodyAnswersFor) {
  JournalEntry entry = entry_at(1, EntryState::kWaiting, 100, 1'000);
  entry.attempt = 1;
  entry.losses = kDispatch.timeouts_max;
  const auto dispatched = [&entry] {
    Row row = queued(entry);
    row.groups.push_back({entry.order, true, entry.targets, {}, {}});
    row.since.push_back({entry.targets, UnixMs(1'000)});
    return row;
  };
  put("not yet", dispatched());
  ++entry.losses;
  put("stuck", dispatched());
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  ASSERT_TRUE(survey_.found());
  EXPECT_EQ(survey_.found()->stuck, 1U);
}

// Each case meets the one that is asked about and none that stands before it.
TEST(Obstacle, IsTheFirstThatKeepsAnOrderFromItsDispatch) {
  const std::vector<PriorityCount> busy = {{7, 0, 1}, {250, 1, 0}};
  const std::vector<PriorityCount> full = {{7, 0, 1}, {100, 5, 1}};
  const JournalEntry usual = entry_at(2, EntryState::kWaiting, 100, 1'000);
  const UnixMs now(1'000);
  EXPECT_EQ(obstacle_of(queued(usual), usual, UnixMs(999), kDispatch, full, {}), Obstacle::kDate);
  EXPECT_EQ(obstacle_of(queued(usual), usual, now, kDispatch, busy, {}), Obstacle::kTurn);
  EXPECT_EQ(obstacle_of(queued(usual), usual, now, kDispatch, full, {}), Obstacle::kRoom);
  const JournalEntry idle = entry_at(2, EntryState::kWaiting, 200, 1'000);
  EXPECT_EQ(obstacle_of(queued(idle), idle, now, kDispatch, full, {}), Obstacle::kIdle);
  EXPECT_EQ(obstacle_of(queued(idle), idle, now, kDispatch, {}, {}), Obstacle::kTurn);
  Row blocked = queued(usual);
  blocked.journal.push_back(entry_at(1, EntryState::kProcessing, 100, 1));
  EXPECT_EQ(obstacle_of(blocked, usual, now, kDispatch, full, {}), Obstacle::kOlderOrder);
  engine::DispatchRules many = kDispatch;
  many.one_at_a_time = false;
  EXPECT_EQ(obstacle_of(blocked, usual, now, many, full, {}), Obstacle::kTurn) << "its document takes a place already";
  const engine::DispatchRules immediate;
  EXPECT_EQ(obstacle_of(blocked, idle, now, immediate, full, {}), Obstacle::kTurn) << "it drains";
  EXPECT_EQ(obstacle_of(blocked, idle, UnixMs(999), immediate, full, {}), Obstacle::kDate);
}

TEST_F(SurveyTest, TakesWhatIsConsolidatedForDueBehindThat) {
  const engine::DispatchRules& rules = kDispatch;
  JournalEntry entry = entry_at(1, EntryState::kWaiting, 100, 1'000);
  entry.urgency.consolidate_until = UnixMs(1'500);
  EXPECT_EQ(obstacle_of(queued(entry), entry, UnixMs(1'499), rules, {}, {}), Obstacle::kDate);
  EXPECT_EQ(obstacle_of(queued(entry), entry, UnixMs(1'500), rules, {}, {}), Obstacle::kTurn);
  put("a", queued(entry));
  survey_.look(store_, Milliseconds(0), UnixMs(1'600), kStarvation, rules);
  ASSERT_TRUE(survey_.found());
  EXPECT_EQ(survey_.found()->due, (std::vector<Survey::Due>{{100, UnixMs(1'500)}}));
}

TEST_F(SurveyTest, FindsNoOldestAmongNone) {
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  ASSERT_TRUE(survey_.found());
  EXPECT_FALSE(survey_.found()->oldest);
}

TEST_F(SurveyTest, GoesThroughALargeStatePieceByPieceAndThenRests) {
  const std::size_t documents = 2 * Survey::kPieceRows + 10;
  for (std::size_t i = 0; i < documents; ++i) put("document-" + std::to_string(i), waiting(1'000, true));
  for (int piece = 0; piece < 2; ++piece) {
    survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
    EXPECT_FALSE(survey_.found());
    EXPECT_TRUE(survey_.due(Milliseconds(0)));
  }
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  ASSERT_TRUE(survey_.found());
  EXPECT_EQ(survey_.found()->overdue, documents);
  EXPECT_FALSE(survey_.due(Milliseconds(0)));
  EXPECT_TRUE(survey_.due(Survey::kPause));
}

TEST_F(SurveyTest, TellsTheLastWholePassWhileTheNextIsUnderWay) {
  put("a", waiting(1'000, true));
  survey_.look(store_, Milliseconds(0), UnixMs(5'000), kStarvation, kDispatch);
  for (std::size_t i = 0; i < Survey::kPieceRows; ++i) put("document-" + std::to_string(i), waiting(1'000));
  survey_.look(store_, Milliseconds(0), UnixMs(6'000), kStarvation, kDispatch);
  EXPECT_EQ(survey_.found()->at, UnixMs(5'000));
}

}  // namespace
}  // namespace reseq::runtime
