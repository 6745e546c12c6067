// The demo of the journal: what happens to its pipeline, how waits are measured, what counts as failed.
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <thread>

#include "demo/pipeline/work_log.h"
#include "demo/run/accidents.h"
#include "demo/run/journal_numbers.h"
#include "demo/run/waits.h"
#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(WorkLog, SaysWhatWasWrittenByAllProcessesThatHadIt) {
  const Repository folder;
  const std::string path = folder.path() + "/work";
  EXPECT_THAT(read_work_log(path), IsEmpty());
  for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
    auto log = WorkLog::open(path);
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE(log.value().write({.micros = -7, .request = request_number("id", "5"), .attempt = attempt}).ok());
  }
  std::ofstream(path, std::ios::app) << "12 00";  // killed
  const auto all = read_work_log(path);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].micros, -7);
  EXPECT_EQ(all[1].request, request_number("id", "5"));
  EXPECT_EQ(all[1].attempt, 2U);
}

TEST(WorkLog, IsNeitherNeededNorForgivenWhenItCannotBeWritten) {
  auto none = WorkLog::open("");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none.value().write({}).ok());
  EXPECT_FALSE(WorkLog::open("/no/such/folder/log").ok());
}

TEST(WorkLog, TellsRequestsOfTheSameDocumentAndLettersApart) {
  EXPECT_NE(request_number("a", "12"), request_number("a", "1"));
  EXPECT_NE(request_number("a", "12"), request_number("a1", "2"));
}

std::vector<Seen> requests_at_zero(std::uint64_t from, std::uint64_t to) {
  std::vector<Seen> all;
  for (std::uint64_t i = from; i <= to; ++i) all.push_back({.request = 1'000 + i, .sequence = i});
  return all;
}

TEST(Waits, AreThoseOfTheSequencesThatAreAskedFor) {
  const std::vector<Seen> requests = requests_at_zero(1, 4);
  const std::vector<Seen> work = {{.micros = 9'000, .request = 1'001}, {.micros = 3'000, .request = 1'003}};
  const Waits first = waits_of({.up_to = 2}, requests, work, {});
  EXPECT_EQ(first.requests, 2U);
  EXPECT_EQ(first.readable.requests, 1U);
  EXPECT_EQ(first.readable.p99_ms, 9);
  EXPECT_EQ(first.begun.requests, 0U);
  const Waits second = waits_of({.after = 2, .up_to = 4}, requests, work, {{.micros = 4'000, .request = 1'004}});
  EXPECT_EQ(second.readable.p50_ms, 3);
  EXPECT_EQ(second.begun.p50_ms, 4);
}

TEST(Waits, EndWithTheFirstTimeAndAreNeverBelowZero) {
  const std::vector<Seen> requests = {{.micros = 5'000, .request = 1, .sequence = 1}};
  const Waits waits =
      waits_of({.up_to = 1}, requests, {{.micros = 9'000, .request = 1}, {.micros = 7'000, .request = 1}},
               {{.micros = 4'000, .request = 1}});
  EXPECT_EQ(waits.readable.p50_ms, 2);
  EXPECT_EQ(waits.begun.p50_ms, 0);
}

TEST(Waits, HaveOneInAHundredAboveTheirP99) {
  std::vector<Seen> work;
  for (std::int64_t i = 1; i <= 200; ++i)
    work.push_back({.micros = i * 1'000, .request = 1'000 + static_cast<std::uint64_t>(i)});
  const Waits waits = waits_of({.up_to = 200}, requests_at_zero(1, 200), work, {});
  EXPECT_EQ(waits.readable.p50_ms, 100);
  EXPECT_EQ(waits.readable.p99_ms, 198);
}

TEST(WorkCounts, HaveWhatWasBegunOnceMoreWhateverItsAttempt) {
  const WorkCounts counts =
      counts_of({{.request = 1}, {.request = 2}, {.request = 1, .attempt = 2}, {.request = 1, .attempt = 2}});
  EXPECT_EQ(counts.begun, 4U);
  EXPECT_EQ(counts.again, 2U);
}

constexpr std::array kPlan{
    PlannedAccident{std::chrono::seconds(12), Accident::kKill, 0},
    PlannedAccident{std::chrono::seconds(20), Accident::kStartAgain, 0},
    PlannedAccident{std::chrono::seconds(26), Accident::kStandStill, 1},
    PlannedAccident{std::chrono::seconds(36), Accident::kGoOn, 1},
    PlannedAccident{std::chrono::seconds(42), Accident::kKill, 2},
    PlannedAccident{std::chrono::seconds(50), Accident::kStartAgain, 2},
};

class AccidentsTest : public ::testing::Test {
 protected:
  Launch process(std::size_t number) const {
    return {.name = "p" + std::to_string(number),
            .arguments = {"sleep", "60"},
            .log_file = folder_.path() + "/log" + std::to_string(number)};
  }
  Repository folder_;
  volatile std::sig_atomic_t stop_ = 0;
  Fleet fleet_{stop_};
};

TEST_F(AccidentsTest, LeaveEverybodyRunningInTheEnd) {
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(fleet_.start(process(i)).ok());
  Accidents accidents(
      fleet_, [this](std::size_t number) { return process(number); }, 3, kPlan);
  ASSERT_TRUE(accidents.happen(std::chrono::seconds(1)).ok());
  EXPECT_EQ(accidents.killed(), 0U);
  ASSERT_TRUE(accidents.happen(std::chrono::seconds(12)).ok());
  EXPECT_EQ(accidents.killed(), 1U);
  EXPECT_FALSE(accidents.over());
  ASSERT_TRUE(accidents.happen(std::chrono::seconds(600)).ok());
  EXPECT_TRUE(accidents.over());
  EXPECT_EQ(accidents.killed(), 2U);
  EXPECT_EQ(accidents.stood_still(), 1U);
  EXPECT_TRUE(fleet_.check().ok());
  EXPECT_THAT(fleet_.stop_all(), IsEmpty()) << "one does not hear that it is to stop";
}

DispatchNumbers good_run(const std::string& dispatch) {
  DispatchNumbers run;
  run.dispatch = dispatch;
  run.seconds = 61.26;
  run.live = {.requests = 40, .readable = {40, 12.3, 5'100}, .begun = {40, 20, 6'000}};
  run.backfill = {.requests = 400, .readable = {300, 2'000, 30'000}, .begun = {}};
  run.killed = 2;
  run.stood_still = 1;
  run.given_back = dispatch == "journal" ? 78 : 0;
  run.work = {.begun = 900, .again = 18};
  for (const char* name : {"search", "catalogue"}) {
    auto& target = run.targets.emplace_back();
    target.name = name;
    target.with.expected = target.with.equal = 100;
  }
  return run;
}

JournalNumbers good_numbers() {
  return {.commit = "abc", .journal = good_run("journal"), .immediate = good_run("immediate")};
}

TEST(JournalNumbers, NothingFailsWhenAllIsRightInBothRuns) {
  EXPECT_THAT(failures(good_numbers()), IsEmpty());
}

TEST(JournalNumbers, FailsWhenADocumentOfEitherRunIsWrong) {
  JournalNumbers numbers = good_numbers();
  numbers.immediate.targets[1].with.equal = 99;
  numbers.immediate.targets[1].with.missing = 1;
  numbers.immediate.targets[1].with.examples = {"path: missing"};
  EXPECT_THAT(failures(numbers),
              ElementsAre("immediate: catalogue differs from the commit: 1 wrong, 0 resurrected", "  path: missing"));
  numbers = good_numbers();
  numbers.journal.targets[0].with.resurrected = 1;
  EXPECT_THAT(failures(numbers), ElementsAre("journal: search differs from the commit: 0 wrong, 1 resurrected"));
}

TEST(JournalNumbers, FailsWhenAChangeCouldNotBeSent) {
  JournalNumbers numbers = good_numbers();
  numbers.journal.skipped = 3;
  EXPECT_THAT(failures(numbers), ElementsAre("journal: 3 changes could not be sent"));
}

TEST(JournalNumbers, FailsWhenNoLeaseGaveADocumentBack) {
  JournalNumbers numbers = good_numbers();
  numbers.journal.given_back = 0;
  EXPECT_THAT(failures(numbers), ElementsAre("no lease gave a document back"));
}

TEST(JournalNumbers, TheTableHasBothRunsBesideEachOther) {
  JournalNumbers numbers = good_numbers();
  numbers.immediate.work.again = 4'831;
  const std::string table = table_text(numbers);
  for (const char* line : {"  dispatch.mode                      journal                  immediate\n",
                           "    readable on work after           p50 12 ms, p99 5.1 s     p50 12 ms, p99 5.1 s\n",
                           "    begun by a worker after          -                        -\n",
                           "  seconds                            61.3                     61.3\n",
                           "  workers killed, stood still        2, 1                     2, 1\n",
                           "  documents given back by leases     78                       none: there are no leases\n",
                           "    once more for the same request   18                       4831\n",
                           "  target catalogue                   100 of 100 right         100 of 100 right\n"})
    EXPECT_THAT(table, HasSubstr(line));
}

TEST(JournalNumbers, TheReportHasTheSameNumbers) {
  const auto report = nlohmann::json::parse(report_json(good_numbers(), {"x"}));
  EXPECT_EQ(report["ok"], false);
  const auto& journal = report["journal"];
  EXPECT_EQ(journal["given_back"], 78);
  EXPECT_EQ(journal["work_begun_again"], 18);
  EXPECT_EQ(journal["live"]["readable"]["p99_ms"], 5'100.0);
  EXPECT_EQ(journal["backfill"]["requests"], 400);
  EXPECT_EQ(report["immediate"]["targets"]["catalogue"]["equal"], 100);
}

}  // namespace
}  // namespace reseq::demo
