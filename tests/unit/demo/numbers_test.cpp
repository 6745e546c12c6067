// What counts as a failed demo, and that table and report tell the same numbers.
#include "demo/run/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reseq::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TargetNumbers good_target(const std::string& name) {
  TargetNumbers target;
  target.name = name;
  target.results_stopped = {{"stale", 4}, {"superseded", 20}};
  target.released = 950;
  target.with.expected = 100;
  target.with.equal = 100;
  target.without.expected = 100;
  target.without.equal = 90;
  target.without.differs = 7;
  target.without.missing = 3;
  target.without.resurrected = 5;
  return target;
}

Numbers good() {
  Numbers numbers;
  numbers.commit = "abc";
  numbers.seed = 1;
  numbers.processes = 2;
  numbers.requests = 1'000;
  numbers.superseded_before_work = 30;
  numbers.seconds = 10;
  numbers.worker_records = {500, 470};
  numbers.targets = {good_target("search"), good_target("catalogue")};
  return numbers;
}

TEST(Numbers, NothingFailsWhenTheTargetsAreRightAndTheScramblingWasHard) {
  EXPECT_THAT(failures(good(), true), IsEmpty());
}

TEST(Numbers, FailsWhenOneDocumentOfAnyTargetIsWrongOrResurrected) {
  Numbers numbers = good();
  numbers.targets[0].with.equal = 99;
  numbers.targets[0].with.differs = 1;
  numbers.targets[0].with.examples = {"path: other bytes"};
  EXPECT_THAT(failures(numbers, false),
              ElementsAre("search differs from the commit: 1 wrong, 0 resurrected", "  path: other bytes"));
  numbers = good();
  numbers.targets[1].with.resurrected = 1;
  EXPECT_THAT(failures(numbers, false), ElementsAre("catalogue differs from the commit: 0 wrong, 1 resurrected"));
}

TEST(Numbers, FailsWhenAChangeCouldNotBeSentAndNamesIt) {
  Numbers numbers = good();
  numbers.skipped = 1;
  numbers.skipped_changes = {"commit 9 large: the blob has 16777217 bytes"};
  EXPECT_THAT(failures(numbers, false),
              ElementsAre("1 changes could not be sent", "  commit 9 large: the blob has 16777217 bytes"));
}

TEST(Numbers, FailsWhenAWorkerHadNothingToDo) {
  Numbers numbers = good();
  numbers.worker_records = {970, 0};
  EXPECT_THAT(failures(numbers, false), ElementsAre("worker 1 of the pipeline got no record"));
  numbers.worker_records = {3, 0};  // three records cannot be expected to reach everybody
  EXPECT_THAT(failures(numbers, false), IsEmpty());
}

TEST(Numbers, FailsWhenTheScramblingIsTooGentleButOnlyWhereThatIsDemanded) {
  for (const auto forget :
       {+[](Numbers& n) { n.targets[1].without.differs = n.targets[1].without.missing = 0; },
        +[](Numbers& n) { n.targets[0].without.resurrected = n.targets[1].without.resurrected = 0; },
        +[](Numbers& n) {
          n.targets[1].results_stopped = {{"duplicate", 50}};
        },
        +[](Numbers& n) { n.superseded_before_work = 0; }}) {
    Numbers numbers = good();
    forget(numbers);
    EXPECT_THAT(failures(numbers, true), ElementsAre(HasSubstr("too gentle")));
    EXPECT_THAT(failures(numbers, false), IsEmpty());
  }
}

TEST(Numbers, WithIntakeTapNothingIsSupersededBeforeWorkAndTheTableSaysWhy) {
  Numbers numbers = good();
  numbers.intake = "tap";
  numbers.superseded_before_work = 0;
  EXPECT_THAT(failures(numbers, true), IsEmpty());
  EXPECT_THAT(table_text(numbers), HasSubstr("none: with intake tap the pipeline reads all requests"));
  numbers.targets[0].results_stopped.clear();
  EXPECT_THAT(failures(numbers, true), ElementsAre(HasSubstr("no result for search comes too late")));
}

TEST(Numbers, TheTableTellsAllOfThem) {
  const std::string table = table_text(good());
  for (const char* part : {"requests                           1000", "superseded before work           30", "10.0",
                           "target search", "target catalogue", "24 (4 stale, 20 superseded)", "950",
                           "100 of 100 documents right, 0 wrong", "10 wrong, 5 resurrected"})
    EXPECT_THAT(table, HasSubstr(part));
  EXPECT_THAT(table, Not(HasSubstr("of no target")));
  Numbers numbers = good();
  numbers.results_without_target = {{"missing_target", 2}};
  EXPECT_THAT(table_text(numbers), HasSubstr("results stopped, of no target      2 (2 missing_target)"));
}

TEST(Numbers, TheReportHasTheSameNumbers) {
  const auto report = nlohmann::json::parse(report_json(good(), {}));
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["intake"], "inline");
  EXPECT_EQ(report["requests"], 1'000);
  EXPECT_EQ(report["superseded_before_work"], 30);
  EXPECT_EQ(report["requests_per_second"], 100.0);
  EXPECT_EQ(report["workers"], nlohmann::json({500, 470}));
  for (const char* name : {"search", "catalogue"}) {
    const auto& target = report["targets"][name];
    EXPECT_EQ(target["results_stopped"]["superseded"], 20);
    EXPECT_EQ(target["released"], 950);
    EXPECT_EQ(target["with_resequencer"]["wrong"], 0);
    EXPECT_EQ(target["without_resequencer"]["wrong"], 10);
    EXPECT_EQ(target["without_resequencer"]["resurrected"], 5);
  }
}

TEST(Numbers, TheReportSurvivesPathsThatAreNoText) {
  Numbers numbers = good();
  numbers.targets[0].without.examples = {"a\xff: missing"};
  const auto report = nlohmann::json::parse(report_json(numbers, {"x"}));
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["targets"]["search"]["without_resequencer"]["examples"][0], "a\xEF\xBF\xBD: missing");
}

}  // namespace
}  // namespace reseq::demo
