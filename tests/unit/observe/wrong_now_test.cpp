#include "observe/wrong_now.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "store/state_folder.h"
#include "tests/support/process.h"
#include "tests/unit/observe/trace.h"

namespace reseq::test {
namespace {

using observe::Json;
using observe::WrongCounts;
using testing::ElementsAre;
using testing::IsEmpty;

std::unique_ptr<observe::Ledger> noting(std::uint8_t targets, std::unique_ptr<store::PartitionStore> store,
                                        bool noted) {
  return good(
      observe::Ledger::open(std::move(store), context_of(targets), table_of(targets), SequenceKind::kU64, noted));
}

std::vector<std::string> lines_of(const observe::Ledger& ledger) {
  std::vector<std::string> lines;
  (void)ledger.tell_wrong_now([&](const std::string& line) { lines.push_back(line); });
  return lines;
}

std::vector<std::string> wrong_after(const std::vector<Event>& events) {
  const auto ledger = noting(1, std::make_unique<store::PartitionStore>(), true);
  for (const Event& event : events) take(*ledger, event);
  return lines_of(*ledger);
}

constexpr bool kAsked = true;
constexpr bool kAnswered = false;

TEST(WrongNow, NamesADocumentWhoseLastResultIsOlderThanOneBeforeIt) {
  EXPECT_THAT(
      wrong_after({{kAsked, "a", 1, 1}, {kAsked, "a", 2, 2}, {kAnswered, "a", 2, 3}, {kAnswered, "a", 1, 1000}}),
      ElementsAre(R"({"id":"a","target":"target-0","wrong":"overwritten","since":"1970-01-01T00:00:01.000Z",)"
                  R"("last_result":{"epoch":0,"seq":"1","revision":"0"},)"
                  R"("newest_result":{"epoch":0,"seq":"2","revision":"0"}})"));
}

TEST(WrongNow, ForgetsItWhenAResultPutsItRight) {
  const std::vector<Event> wrong = {
      {kAsked, "a", 1, 1}, {kAsked, "a", 2, 2}, {kAnswered, "a", 2, 3}, {kAnswered, "a", 1, 4}};
  std::vector<Event> again = wrong, newer = wrong;
  again.push_back({kAnswered, "a", 2, 5});
  EXPECT_THAT(wrong_after(again), IsEmpty());
  newer.push_back({kAsked, "a", 3, 5});
  newer.push_back({kAnswered, "a", 3, 6});
  EXPECT_THAT(wrong_after(newer), IsEmpty());
}

TEST(WrongNow, NamesADocumentWhoseNewestRequestHasNoResult) {
  EXPECT_THAT(wrong_after({{kAsked, "a", 1, 1}, {kAnswered, "a", 1, 2}, {kAsked, "a", 2, 3000}}),
              ElementsAre(R"({"id":"a","target":"target-0","wrong":"missing","since":"1970-01-01T00:00:03.000Z",)"
                          R"("last_result":{"epoch":0,"seq":"1","revision":"0"},)"
                          R"("newest_request":{"epoch":0,"seq":"2","revision":"0"}})"));
  EXPECT_THAT(wrong_after({{kAnswered, "never requested", 1, 1}}), IsEmpty());
}

// Against a reader who remembers everything, through saves and new starts.
TEST(WrongNow, IsWhatTheOutputLeavesBehindThroughEveryRestart) {
  constexpr std::uint8_t kTargets = 3;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const TempDir folder;
    const auto open = [&] {
      return noting(kTargets,
                    good(store::PartitionStore::open(good(store::StateFolder::open(folder.path() + "/s", "boot")), {})),
                    true);
    };
    auto ledger = open();
    std::map<std::pair<std::string, std::uint8_t>, std::pair<std::uint64_t, std::uint64_t>> last_and_highest;
    std::map<std::string, std::uint64_t> requested;
    for (int i = 0; i < 600; ++i) {
      const std::string id = "d" + std::to_string(random() % 20);
      const bool is_request = random() % 3 == 0;
      const std::uint64_t sequence = is_request ? ++requested[id] : random() % (requested[id] + 1);
      const auto target = static_cast<std::uint8_t>(random() % kTargets);
      if (sequence == 0) continue;
      take(*ledger, {is_request, id, sequence, i, target});
      auto& [last, highest] = last_and_highest[{id, target}];
      if (!is_request) last = sequence;
      if (!is_request) highest = std::max(highest, sequence);
      if (i % 100 != 99) continue;
      ASSERT_TRUE(ledger->save(Json::object()));
      ASSERT_TRUE(ledger->close());
      ledger.reset();
      ledger = open();
    }
    WrongCounts wanted;
    for (const auto& [id, newest] : requested)
      for (std::uint8_t target = 0; newest > 0 && target < kTargets; ++target) {
        const auto [last, highest] = last_and_highest[{id, target}];
        if (last < highest)
          ++wanted.overwritten;
        else if (highest < newest)
          ++wanted.missing;
      }
    std::size_t lines = 0;
    const WrongCounts told = ledger->tell_wrong_now([&](const std::string&) { ++lines; });
    EXPECT_EQ(told.overwritten, wanted.overwritten) << "seed " << seed;
    EXPECT_EQ(told.missing, wanted.missing) << "seed " << seed;
    EXPECT_EQ(lines, told.overwritten + told.missing);
    EXPECT_GT(told.overwritten, 0U);
  }
}

// Who does not ask for the list pays nothing: no row is written for a stale write.
TEST(WrongNow, CostsNothingWithoutAList) {
  for (const bool noted : {false, true}) {
    const auto ledger = noting(1, std::make_unique<store::PartitionStore>(), noted);
    for (const Event& event : std::vector<Event>{{kAsked, "a", 1, 1}, {kAsked, "a", 2, 2}, {kAnswered, "a", 2, 3}})
      take(*ledger, event);
    const Digest before = ledger->state_digest();
    take(*ledger, {kAnswered, "a", 1, 4});
    EXPECT_EQ(ledger->state_digest() == before, !noted);
  }
}

}  // namespace
}  // namespace reseq::test
