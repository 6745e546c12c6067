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

Numbers good() {
  Numbers numbers;
  numbers.commit = "abc";
  numbers.seed = 1;
  numbers.processes = 2;
  numbers.requests = 1'000;
  numbers.superseded_before_work = 30;
  numbers.results_stopped = {{"stale", 4}, {"superseded", 20}};
  numbers.released = 950;
  numbers.seconds = 10;
  numbers.worker_records = {500, 470};
  numbers.with.expected = 100;
  numbers.with.equal = 100;
  numbers.without.expected = 100;
  numbers.without.equal = 90;
  numbers.without.differs = 7;
  numbers.without.missing = 3;
  numbers.without.resurrected = 5;
  return numbers;
}

TEST(Numbers, NothingFailsWhenTheIndexIsRightAndTheScramblingWasHard) {
  EXPECT_THAT(failures(good(), true), IsEmpty());
}

TEST(Numbers, FailsWhenOneDocumentIsWrongOrResurrected) {
  Numbers numbers = good();
  numbers.with.equal = 99;
  numbers.with.differs = 1;
  numbers.with.examples = {"path: other bytes"};
  EXPECT_THAT(failures(numbers, false),
              ElementsAre("the sink differs from the commit: 1 wrong, 0 resurrected", "  path: other bytes"));
  numbers = good();
  numbers.with.resurrected = 1;
  EXPECT_THAT(failures(numbers, false), ElementsAre(HasSubstr("0 wrong, 1 resurrected")));
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
       {+[](Numbers& n) { n.without.differs = n.without.missing = 0; }, +[](Numbers& n) { n.without.resurrected = 0; },
        +[](Numbers& n) { n.superseded_before_work = 0; }}) {
    Numbers numbers = good();
    forget(numbers);
    EXPECT_THAT(failures(numbers, true), ElementsAre(HasSubstr("too gentle")));
    EXPECT_THAT(failures(numbers, false), IsEmpty());
  }
}

TEST(Numbers, TheTableTellsAllOfThem) {
  const std::string table = table_text(good());
  for (const char* part :
       {"requests                           1000", "superseded before work           30", "24 (4 stale, 20 superseded)",
        "950", "10.0", "100 of 100 documents right, 0 wrong", "10 wrong, 5 resurrected"})
    EXPECT_THAT(table, HasSubstr(part));
}

TEST(Numbers, TheReportHasTheSameNumbers) {
  const auto report = nlohmann::json::parse(report_json(good(), {}));
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["requests"], 1'000);
  EXPECT_EQ(report["superseded_before_work"], 30);
  EXPECT_EQ(report["results_stopped"]["superseded"], 20);
  EXPECT_EQ(report["released"], 950);
  EXPECT_EQ(report["documents_per_second"], 100.0);
  EXPECT_EQ(report["workers"], nlohmann::json({500, 470}));
  EXPECT_EQ(report["with_resequencer"]["wrong"], 0);
  EXPECT_EQ(report["without_resequencer"]["wrong"], 10);
  EXPECT_EQ(report["without_resequencer"]["resurrected"], 5);
}

TEST(Numbers, TheReportSurvivesPathsThatAreNoText) {
  Numbers numbers = good();
  numbers.without.examples = {"a\xff: missing"};
  const auto report = nlohmann::json::parse(report_json(numbers, {"x"}));
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["without_resequencer"]["examples"][0], "a\xEF\xBF\xBD: missing");
}

}  // namespace
}  // namespace reseq::demo
