// script/quickstart --orders: every version in its order, but for what is lost, which is known before.
#include <cstdint>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "demo/compare/history.h"
#include "demo/pipeline/faults.h"
#include "tests/quickstart/made_history.h"
#include "tests/support/change_streams.h"
#include "tests/support/process.h"
#include "tests/support/quickstart_run.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr demo::Seed kOrdersSeed{1};  // of the quickstart
constexpr int kRefusalLimitMs = 60'000;

// Eighty commits change fifteen books each, and throw one away that comes back later.
constexpr const char* kOrdersHistory = R"(
mkdir shelf
for number in $(seq 80); do
  for i in $(seq 15); do echo "$i as of $number" >shelf/book-$(((number * 15 + i) % 100)).txt; done
  rm -f shelf/book-$(((number * 15 + 50) % 100)).txt
  commit
done
)";

std::uint64_t lost_for(const std::string& target, const std::vector<demo::PathChange>& history) {
  std::uint64_t lost = 0;
  for (const demo::PathChange& change : history)
    lost += demo::loses(kOrdersSeed, target, change.path, std::to_string(change.commit)) ? 1 : 0;
  return lost;
}

void expect_every_version(const nlohmann::json& report, const std::string& name) {
  SCOPED_TRACE(name);
  const auto& target = report.at("targets").at(name);
  const auto& with = target.at("with_resequencer");
  EXPECT_EQ(with.at("versions").get<std::uint64_t>() + target.at("lost").get<std::uint64_t>(), report.at("changes"));
  EXPECT_EQ(with.at("right"), with.at("versions"));
  EXPECT_EQ(target.at("skipped"), target.at("lost"));
  EXPECT_GT(target.at("lost"), 0);
  EXPECT_GT(target.at("held"), 0);
  EXPECT_GT(target.at("without_resequencer").at("out_of_order"), 0);
  EXPECT_GT(target.at("without_resequencer").at("twice"), 0);
}

void expect_all(const nlohmann::json& report) {
  ASSERT_TRUE(report.is_object() && report.contains("requests")) << "no report";
  EXPECT_TRUE(report.at("ok").get<bool>());
  for (const char* target : {"history", "audit"}) expect_every_version(report, target);
  EXPECT_EQ(report.at("requests").at("right"), report.at("changes"));
  const auto& search = report.at("targets").at("search");
  EXPECT_EQ(search.at("equal"), search.at("documents"));
  EXPECT_GT(search.at("documents"), 0);
  EXPECT_EQ(search.at("resurrected"), 0);
}

TEST(QuickstartOfOrders, HasEveryVersionInItsOrderAndTellsWhatWasLost) {
  const TempDir folder;
  const std::string repository = make_history(folder, kOrdersHistory);
  const auto history = demo::read_history(repository, "HEAD");
  ASSERT_TRUE(history.ok());
  QuickstartRun run(repository, {"--orders", "--processes", "2"}, {});
  EXPECT_EQ(run.wait(), 0) << run.log();
  const auto report = nlohmann::json::parse(run.report(), nullptr, false);
  expect_all(report);
  if (testing::Test::HasFatalFailure()) return;
  EXPECT_GT(history.value().size(), 1'200U);
  EXPECT_EQ(report.at("changes"), history.value().size());
  for (const char* target : {"history", "audit"})
    EXPECT_EQ(report.at("targets").at(target).at("lost"), lost_for(target, history.value())) << target;
  EXPECT_THAT(run.log(), HasSubstr("search equals commit"));
}

// Where more results come too late than the run takes for lost, it says so.
TEST(LongQuickstart, OfOrdersFailsWhereResultsAreSkippedThatWereNotLost) {
  const TempDir folder;
  QuickstartRun run(make_history(folder, kOrdersHistory), {"--orders"}, {{"RESEQ_ORDERS_GAP_TIMEOUT_MS", "1000"}});
  EXPECT_EQ(run.wait(), 1) << run.log();
  ::unsetenv("RESEQ_ORDERS_GAP_TIMEOUT_MS");
  const auto report = nlohmann::json::parse(run.report(), nullptr, false);
  ASSERT_TRUE(report.is_object() && report.contains("failures")) << "no report";
  EXPECT_FALSE(report.at("ok"));
  EXPECT_THAT(report.at("failures").dump(), HasSubstr("skipped it and it was not lost"));
  EXPECT_THAT(report.at("failures").dump(), HasSubstr("audit is not the history"));
}

TEST(LongQuickstart, ShowsOrdersOnRealData) {
  RESEQ_CHANGE_STREAM(bundle, "rustsec-advisory-db.bundle");
  QuickstartRun run(bundle, {"--orders"}, {});
  EXPECT_EQ(run.wait(), 0) << run.log();
  expect_all(nlohmann::json::parse(run.report(), nullptr, false));
}

// Before anything is installed or started.
TEST(QuickstartOfOrders, RefusesWhatMakesNoSenseWithIt) {
  const TempDir folder;
  const auto refused = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command = {source_path("script/quickstart"), "--orders"};
    command.insert(command.end(), options.begin(), options.end());
    Process script(command, folder.path() + "/log");
    EXPECT_EQ(script.wait(kRefusalLimitMs), 64);
    return script.tail();
  };
  EXPECT_THAT(refused({"--intake", "tap"}), HasSubstr("--orders needs inline"));
  for (const char* other : {"--journal", "--failures"})
    EXPECT_THAT(refused({other}), HasSubstr("[--journal | --failures | --orders]"));
}

}  // namespace
}  // namespace reseq::test
