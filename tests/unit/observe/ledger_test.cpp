#include "observe/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "store/state_folder.h"
#include "tests/support/process.h"
#include "tests/unit/observe/trace.h"

namespace reseq::test {
namespace {

using observe::Ledger;
using observe::Tally;

Tally told(const std::vector<Event>& events, std::uint8_t targets = 1) {
  const auto ledger = new_ledger(targets);
  for (const Event& event : events) take(*ledger, event);
  return ledger->tally();
}

constexpr bool kRequest = true;
constexpr bool kResult = false;

TEST(Ledger, CountsAResultBehindANewerOneAsStale) {
  const Tally t =
      told({{kRequest, "a", 1, 100}, {kRequest, "a", 2, 110}, {kResult, "a", 2, 200}, {kResult, "a", 1, 250}});
  EXPECT_EQ(t.in_order, 1U);
  EXPECT_EQ(t.out_of_order, 1U);
  EXPECT_EQ(t.lateness_ms_max, 50);
  EXPECT_EQ(t.reorder_distance_max, 1U);
  ASSERT_EQ(t.worst.highest(9).size(), 1U);
  EXPECT_EQ(t.worst.highest(9).front().name, "a");
}

TEST(Ledger, CountsTheNewestOnceMoreAsADuplicateAndAnOlderOneAsStale) {
  const Tally t = told({{kRequest, "a", 1, 1},
                        {kRequest, "a", 2, 2},
                        {kResult, "a", 1, 3},
                        {kResult, "a", 1, 4},
                        {kResult, "a", 2, 5},
                        {kResult, "a", 1, 6}});
  EXPECT_EQ(t.in_order, 2U);
  EXPECT_EQ(t.duplicates, 1U);
  EXPECT_EQ(t.out_of_order, 1U);
}

TEST(Ledger, CountsAResultThatRisesBelowANewerRequestAsSupersededAndInOrder) {
  const Tally t = told({{kRequest, "a", 1, 1}, {kRequest, "a", 2, 2}, {kResult, "a", 1, 3}, {kResult, "a", 2, 4}});
  EXPECT_EQ(t.in_order, 2U);
  EXPECT_EQ(t.superseded, 1U);
  EXPECT_EQ(t.out_of_order, 0U);
  EXPECT_EQ(t.answer_ms_max, 2);
  // Read before it, made after it.
  EXPECT_EQ(told({{kRequest, "a", 1, 1}, {kRequest, "a", 2, 4}, {kResult, "a", 1, 3}}).superseded, 0U);
}

TEST(Ledger, AsksForRequestsFirstAndCountsNothingUntilThen) {
  const auto ledger = new_ledger();
  const Event late{kResult, "a", 1, 5};
  EXPECT_FALSE(ledger->result(command_of(late), {Partition(0), Offset(0), UnixMs(5)}, false));
  EXPECT_EQ(ledger->tally().results, 0U);
  take(*ledger, {kRequest, "a", 1, 5});
  EXPECT_TRUE(ledger->result(command_of(late), {Partition(0), Offset(0), UnixMs(5)}, false));
  EXPECT_EQ(ledger->tally().in_order, 1U);
  EXPECT_EQ(ledger->tally().unregistered, 0U);
}

TEST(Ledger, ComparesResultsWithoutARequestAsWell) {
  const Tally t = told({{kResult, "a", 7, 1}, {kResult, "a", 5, 2}, {kResult, "a", 7, 3}, {kResult, "a", 9, 4}});
  EXPECT_EQ(t.in_order, 2U);
  EXPECT_EQ(t.out_of_order, 1U);
  EXPECT_EQ(t.duplicates, 0U + 1U);
  EXPECT_EQ(t.unregistered, 2U);
}

TEST(Ledger, TellsRequestsApart) {
  const auto ledger = new_ledger();
  take(*ledger, {kRequest, "a", 2, 1});
  take(*ledger, {kRequest, "a", 2, 2});
  take(*ledger, {kRequest, "a", 1, 3});
  const Event again{kRequest, "a", 2, 4};  // the command points into it
  Request edited = std::get<Request>(command_of(again));
  edited.hash = PayloadHash(77);
  ledger->request(edited, {Partition(0), Offset(4), UnixMs(4)});
  ledger->request(Refused{Reason::kMissingSequence, false, "a"}, {Partition(0), Offset(5), UnixMs(5)});
  const Tally& t = ledger->tally();
  EXPECT_EQ(t.requests, 5U);
  EXPECT_EQ(t.registered, 1U);
  EXPECT_EQ(t.repeated, 1U);
  EXPECT_EQ(t.behind, 1U);
  EXPECT_EQ(t.reused, 1U);
  EXPECT_EQ(observe::sum_of(t.requests_refused), 1U);
  EXPECT_EQ(ledger->waiting(), 1U);
}

TEST(Ledger, SurvivesTimestampsThatAreNoTimes) {
  const Tally t = told({{kResult, "a", 2, INT64_MAX}, {kResult, "a", 1, -5}, {kResult, "a", 3, 0}});
  EXPECT_EQ(t.in_order, 2U);
  EXPECT_EQ(t.out_of_order, 1U);
}

TEST(Ledger, KeepsTargetsApart) {
  const Tally t = told({{kRequest, "a", 1, 1},
                        {kRequest, "a", 2, 1},
                        {kResult, "a", 2, 2, 0},
                        {kResult, "a", 1, 3, 1},
                        {kResult, "a", 1, 4, 0},
                        {kResult, "a", 2, 5, 1}},
                       2);
  EXPECT_EQ(t.in_order, 3U);
  EXPECT_EQ(t.out_of_order, 1U);
}

Registration of(std::uint64_t sequence, TargetSet targets) {
  Registration what;
  what.id = "a";
  what.sequence = Sequence::of_number(sequence);
  what.targets = targets;
  return what;
}

// The newer request is for another target, so a REGISTER of the older one is no more too late than its result.
TEST(Ledger, CountsAsInOrderWhatARegisterAnnouncedBehindANewerRequestOfAnotherTarget) {
  const auto ledger = new_ledger(2);
  const Ledger::Source source{Partition(0), Offset(0), UnixMs(1)};
  for (const std::uint64_t sequence : {8U, 11U}) {
    Request request;
    request.what = of(sequence, TargetSet(1));
    ledger->request(request, source);
  }
  EXPECT_TRUE(ledger->result(Register{of(8, TargetSet(2))}, source, true));
  EXPECT_EQ(ledger->tally().other_commands, 1U);
  EXPECT_EQ(ledger->tally().other_commands_bad, 0U);
  take(*ledger, {kResult, "a", 8, 2, 1});
  EXPECT_EQ(ledger->tally().in_order, 1U);
  EXPECT_EQ(ledger->tally().withdrawn, 0U);
  EXPECT_EQ(ledger->tally().unregistered, 0U);
}

struct Made {
  std::vector<Event> outputs;  // in the order of the output's log
  std::vector<Event> requests;
};

// Documents that change while their results are delayed, repeated and lost.
Made scramble(std::mt19937_64& random, std::uint8_t targets) {
  const auto upto = [&](std::uint64_t n) { return random() % n; };
  Made made;
  std::vector<std::pair<std::uint64_t, Event>> delayed;
  std::map<std::string, std::uint64_t> newest;
  const std::uint64_t count = 50 + upto(300);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string id = "d" + std::to_string(upto(1 + count / 10));
    const std::uint64_t sequence = newest[id] += 1 + upto(3);
    const auto at = static_cast<std::int64_t>(1000 + i * 10);
    made.requests.push_back({kRequest, id, sequence, at});
    for (std::uint8_t t = 0; t < targets; ++t)
      for (std::uint64_t copies = upto(10) == 0 ? 2 : upto(12) == 0 ? 0 : 1; copies > 0; --copies) {
        const std::uint64_t due = static_cast<std::uint64_t>(at) + 1 + upto(200);
        delayed.push_back({due, {kResult, id, sequence, static_cast<std::int64_t>(due), t}});
      }
  }
  std::stable_sort(delayed.begin(), delayed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [due, event] : delayed) made.outputs.push_back(event);
  return made;
}

// What is sure does not depend on when the requests are read: any merge of the two logs counts the same.
TEST(Ledger, CountsWhatAReaderOfTheOutputCountsWheneverRequestsAreRead) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random(seed);
    const auto targets = static_cast<std::uint8_t>(1 + random() % 3);
    const Made made = scramble(random, targets);
    const Reference wanted(made.outputs);
    const std::uint64_t requests_of_ten = random() % 11;  // 0: all results first, 10: all requests first
    const auto ledger = new_ledger(targets);
    auto request = made.requests.begin();
    auto result = made.outputs.begin();
    while (request != made.requests.end() || result != made.outputs.end()) {
      const bool next_is_request =
          result == made.outputs.end() || (request != made.requests.end() && random() % 10 < requests_of_ten);
      take(*ledger, next_is_request ? *request++ : *result++);
    }
    const Tally& t = ledger->tally();
    EXPECT_EQ(t.results, made.outputs.size()) << "seed " << seed;
    EXPECT_EQ(t.in_order, wanted.in_order) << "seed " << seed;
    EXPECT_EQ(t.out_of_order, wanted.out_of_order) << "seed " << seed;
    EXPECT_EQ(t.duplicates, wanted.duplicates) << "seed " << seed;
    EXPECT_EQ(t.reorder_distance_max, wanted.distance_max) << "seed " << seed;
    for (const auto& entry : t.worst.highest(observe::TopList::kEntriesMax))
      EXPECT_EQ(entry.count, wanted.stale.at(entry.name)) << "seed " << seed;
    EXPECT_EQ(t.worst.highest(observe::TopList::kEntriesMax).size(), wanted.stale.size()) << "seed " << seed;
    if (HasFailure()) return;
  }
}

class OnDisk : public testing::Test {
 protected:
  std::unique_ptr<Ledger> open() {
    auto folder = good(store::StateFolder::open(folder_.path() + "/state", "boot"));
    return good(Ledger::open(good(store::PartitionStore::open(std::move(folder), {})), context_of(2), table_of(2),
                             SequenceKind::kU64));
  }
  TempDir folder_;
};

// Killed and taken up again at any record: what was not saved is read again, and nothing is counted twice.
TEST_F(OnDisk, GoesOnFromWhatWasSavedAfterACrash) {
  std::mt19937_64 random(7);
  const Made made = scramble(random, 2);
  std::vector<Event> all = made.requests;
  all.insert(all.end(), made.outputs.begin(), made.outputs.end());
  auto ledger = open();
  for (std::size_t i = 0; i < all.size();) {
    take(*ledger, all[i++]);
    if (random() % 50 == 0) good(ledger->save({{"next", i}}));
    if (random() % 80 != 0) continue;
    ledger.reset();
    ledger = open();
    i = ledger->note().is_null() ? 0 : ledger->note().at("next").get<std::size_t>();
  }
  const Reference wanted(made.outputs);
  const Tally before = ledger->tally();
  EXPECT_EQ(before.in_order, wanted.in_order);
  EXPECT_EQ(before.out_of_order, wanted.out_of_order);
  EXPECT_EQ(before.duplicates, wanted.duplicates);
  EXPECT_EQ(before.registered, made.requests.size());
  good(ledger->save({{"next", 0}}));
  good(ledger->close());
  ledger.reset();
  EXPECT_EQ(observe::to_json(open()->tally()), observe::to_json(before));
}

}  // namespace
}  // namespace reseq::test
