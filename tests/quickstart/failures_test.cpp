// script/quickstart --failures on a small history whose failures are known: the report has what was put in, and nothing
// else.
#include <cstdint>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "demo/pipeline/faults.h"
#include "tests/quickstart/made_history.h"
#include "tests/support/change_streams.h"
#include "tests/support/process.h"
#include "tests/support/quickstart_run.h"

namespace reseq::test {
namespace {

using testing::ContainerEq;

constexpr demo::Seed kSeed{1};  // of the quickstart
constexpr int kBooks = 100;
constexpr int kThrownAway = 5;  // of them, at last

std::string book(int number) {
  return "shelf/book-" + std::to_string(number) + ".txt";
}

// Forty commits change fifteen books each. One file is broken and repaired, one is broken at last, one is no text.
const char* const kHistory = R"(
mkdir shelf
for number in $(seq 40); do
  for i in $(seq 15); do echo "as of $number" >shelf/book-$(((number * 15 + i) % 100)).txt; done
  case $number in
    1) echo '{}' >broken.json ;;
    2) printf 'PNG\0' >picture.png ;;
    3) echo '{' >repaired.json ;;
    4) echo '{"repaired": true}' >repaired.json ;;
    40) echo '{"broken": true' >broken.json && rm shelf/book-[0-4].txt ;;
  esac
  commit
done
)";

using Failed = std::map<std::string, std::string>;  // target and document: the error

Failed expected_failures() {
  Failed failed;
  for (const std::string target : {"search", "catalogue"}) {
    failed[target + " broken.json"] = "no JSON: parse error at line 2, column 1";
    for (int i = kThrownAway; i < kBooks; ++i)
      if (demo::throws(kSeed, target, book(i))) failed[target + " " + book(i)] = "exception: index 7 is out of range";
  }
  failed["search picture.png"] = "no text: it has a NUL byte";
  return failed;
}

Failed failed_in(const nlohmann::json& report) {
  Failed failed;
  for (const auto& one : report.at("failed"))
    failed[one.at("target").get<std::string>() + " " + one.at("id").get<std::string>()] = one.at("error");
  return failed;
}

std::uint64_t failed_for(const std::string& target, const Failed& failed) {
  std::uint64_t count = 0;
  for (const auto& [name, error] : failed) count += name.starts_with(target + " ") ? 1 : 0;
  return count;
}

void expect_targets(const nlohmann::json& report, const Failed& failed) {
  for (const std::string target : {"search", "catalogue"}) {
    SCOPED_TRACE(target);
    const auto& documents = report.at("targets").at(target);
    const std::uint64_t expected_failed = failed_for(target, failed);
    EXPECT_EQ(documents.at("documents"), kBooks - kThrownAway + 3) << "books and three files";
    EXPECT_EQ(documents.at("failed"), expected_failed);
    EXPECT_EQ(documents.at("equal"), kBooks - kThrownAway + 3 - expected_failed);
    EXPECT_EQ(documents.at("older_version"), 1) << "broken.json as it was before";
    EXPECT_EQ(documents.at("resurrected"), 0);
  }
}

void expect_classes(const nlohmann::json& said) {
  const auto& permanent = said.at("permanent");
  EXPECT_EQ(permanent.at("documents"), 3) << "broken.json, repaired.json, picture.png";
  EXPECT_EQ(permanent.at("given_up"), 5) << "the two JSON files for both targets, the picture for search";
  EXPECT_EQ(permanent.at("tried_again"), 0);
  EXPECT_GT(said.at("unknown").at("given_up"), 0);
  EXPECT_GT(said.at("unknown").at("tried_again"), said.at("unknown").at("given_up")) << "given up at the third time";
  EXPECT_GT(said.at("transient").at("tried_again"), 0);
  EXPECT_EQ(said.at("transient").at("given_up"), 0);
  for (const char* universal : {"universal_transient", "universal_permanent"}) {
    SCOPED_TRACE(universal);
    EXPECT_GT(said.at(universal).at("waited"), 0);
    EXPECT_EQ(said.at(universal).at("given_up"), 0);
  }
}

void expect_outages(const nlohmann::json& report) {
  for (const char* name : {"down", "no_index"}) {
    SCOPED_TRACE(name);
    const auto& outage = report.at(name);
    EXPECT_GT(outage.at("seconds"), 1.0);
    EXPECT_GT(outage.at("waited"), 0);
    EXPECT_EQ(outage.at("lost"), 0);
    EXPECT_GT(outage.at("released_others"), outage.at("released")) << "catalogue did not go on";
  }
  EXPECT_GT(report.at("down").at("tried"), 0) << "nobody looked whether search is back";
  EXPECT_LT(report.at("no_index").at("tried"), report.at("down").at("tried")) << "no operator was waited for";
}

TEST(QuickstartOfFailures, EndsWithWhatWasPutInAndNothingElse) {
  const TempDir folder;
  QuickstartRun run(make_history(folder, kHistory), {"--failures"}, {});
  EXPECT_EQ(run.wait(), 0) << run.log();
  const auto report = nlohmann::json::parse(run.report(), nullptr, false);
  ASSERT_TRUE(report.is_object() && report.contains("failed")) << "no report";
  const Failed failed = expected_failures();
  EXPECT_GT(failed_for("search", failed), 3U) << "no book throws, so this shows too little";
  EXPECT_THAT(failed_in(report), ContainerEq(failed));
  expect_targets(report, failed);
  expect_classes(report.at("said"));
  expect_outages(report);
  EXPECT_EQ(report.at("killed"), 2);
  EXPECT_EQ(report.at("stood_still"), 1);
  EXPECT_GT(report.at("leases_lost"), 0);
  EXPECT_LE(report.at("most_retries"), report.at("retries_max"));
}

// A lock takes two retries. Where one is allowed, documents that nothing is wrong with are given up, and that is seen.
TEST(LongQuickstart, OfFailuresFailsWhereTooFewRetriesAreAllowed) {
  const TempDir folder;
  QuickstartRun run(make_history(folder, kHistory), {"--failures"}, {{"RESEQ_FAILURES_RETRIES_MAX", "1"}});
  EXPECT_EQ(run.wait(), 1) << run.log();
  ::unsetenv("RESEQ_FAILURES_RETRIES_MAX");
  const auto report = nlohmann::json::parse(run.report(), nullptr, false);
  ASSERT_TRUE(report.is_object() && report.contains("failures")) << "no report";
  EXPECT_FALSE(report.at("ok"));
  EXPECT_THAT(report.at("failures").dump(), testing::HasSubstr("given up because of a lock"));
}

// Its three versions that are no JSON fail, and are repaired by the next change.
TEST(LongQuickstart, ShowsFailuresOnRealData) {
  RESEQ_CHANGE_STREAM(bundle, "football.bundle");
  QuickstartRun run(bundle, {"--failures"}, {});
  EXPECT_EQ(run.wait(), 0) << run.log();
  const auto report = nlohmann::json::parse(run.report(), nullptr, false);
  ASSERT_TRUE(report.is_object() && report.contains("said")) << "no report";
  const auto& permanent = report.at("said").at("permanent");
  EXPECT_EQ(permanent.at("documents"), 3);
  EXPECT_EQ(permanent.at("given_up"), 6);
  for (const auto& one : report.at("failed"))
    EXPECT_EQ(one.at("error"), "exception: index 7 is out of range") << one.at("id");
  for (const auto& [name, target] : report.at("targets").items())
    EXPECT_EQ(target.at("equal").get<int>() + target.at("failed").get<int>(), target.at("documents")) << name;
}

}  // namespace
}  // namespace reseq::test
