// The first command of the README, as a user runs it, in the pairwise combinations of script/matrix: the project's own
// history and both change streams, one and three resequencers, both intakes, five seeds. One Kafka serves all runs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/change_streams.h"
#include "tests/support/process.h"
#include "tests/support/quickstart_run.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

namespace fs = std::filesystem;

constexpr int kLimitMs = 840'000;
constexpr int kShortLimitMs = 60'000;

struct Combination {
  std::string history, processes, intake, seed;
  [[nodiscard]] std::string name() const { return history + "-" + processes + "-" + intake + "-" + seed; }
};

const std::string& matrix() {
  static const std::string kScript = source_path("script/matrix");
  return kScript;
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

std::vector<Combination> combinations(const std::string& which) {
  const TempDir directory;
  Process list({matrix(), which, "--list"}, directory.path() + "/log");
  EXPECT_EQ(list.wait(kShortLimitMs), 0) << list.tail();
  std::vector<Combination> all;
  std::istringstream lines(list.tail());
  for (Combination one; lines >> one.history >> one.processes >> one.intake >> one.seed;) all.push_back(one);
  return all;
}

void expect_right(const nlohmann::json& report, const Combination& combination) {
  ASSERT_TRUE(report.is_object() && report.contains("targets")) << "no report";
  EXPECT_EQ(report.at("processes").dump(), combination.processes);
  EXPECT_EQ(report.at("seed").dump(), combination.seed);
  EXPECT_EQ(report.at("intake"), combination.intake);
  EXPECT_EQ(report.at("targets").size(), 2U);
  for (const char* name : {"search", "catalogue"}) {
    const auto& target = report.at("targets").at(name);
    const auto& documents = target.at("with_resequencer");
    EXPECT_EQ(documents.at("wrong"), 0) << name;
    EXPECT_EQ(documents.at("resurrected"), 0) << name;
    EXPECT_EQ(documents.at("equal"), documents.at("documents")) << name;
    EXPECT_GT(documents.at("documents"), 0) << name;
    EXPECT_GT(target.at("released"), 0) << name;
  }
  EXPECT_EQ(report.at("workers").size(), 8U);
  for (const auto& records : report.at("workers")) EXPECT_GT(records, 0) << "a worker without a record";
}

// What the demo is for: the scrambling did harm to both targets, and the resequencer saved work where it can.
void expect_scrambled(const nlohmann::json& report, const Combination& combination) {
  std::uint64_t resurrected = 0;
  for (const char* name : {"search", "catalogue"}) {
    const auto& without = report.at("targets").at(name).at("without_resequencer");
    EXPECT_GT(without.at("wrong"), 0) << name;
    resurrected += without.at("resurrected").get<std::uint64_t>();
  }
  EXPECT_GT(resurrected, 0U);
  if (combination.intake == "inline")
    EXPECT_GT(report.at("superseded_before_work"), 0);
  else
    EXPECT_EQ(report.at("superseded_before_work"), 0);
}

// All these combinations, two at a time.
void run_combinations(const std::string& which) {
  RESEQ_CHANGE_STREAM(rustsec, "rustsec-advisory-db.bundle");
  RESEQ_CHANGE_STREAM(mobility, "mobility-database-catalogs.bundle");
  ASSERT_EQ(rustsec.parent_path(), mobility.parent_path());
  if (!fs::exists(source_path(".git"))) GTEST_SKIP() << "the source tree is no git checkout";
  ::setenv("RESEQ_BOOTSTRAP_SERVERS", Broker::shared().bootstrap_servers().c_str(), 1);
  ::setenv("RESEQ_PROGRAMS", fs::path(program("resequencer")).parent_path().c_str(), 1);
  ::setenv("RESEQ_DATA_DIR", rustsec.parent_path().c_str(), 1);
  const TempDir directory;
  Process runs({matrix(), which, "--jobs", "2", "--out", directory.path()}, directory.path() + "/log");
  EXPECT_EQ(runs.wait(kLimitMs), 0) << runs.tail(16'000);
  for (const Combination& combination : combinations(which)) {
    SCOPED_TRACE(combination.name());
    const auto report =
        nlohmann::json::parse(content_of(directory.path() + "/" + combination.name() + ".json"), nullptr, false);
    expect_right(report, combination);
    if (testing::Test::HasFatalFailure()) return;
    if (combination.history != "own") expect_scrambled(report, combination);
  }
}

TEST(Quickstart, EndsWithBothTargetsEqualToTheCommit) {
  run_combinations("--few");
}

TEST(LongQuickstart, EndsWithBothTargetsEqualToTheCommitInAllPairs) {
  run_combinations("--pairwise");
}

// Their command lines.
std::vector<std::string> processes_that_name(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& process : fs::directory_iterator("/proc"))
    if (std::string line = content_of(process.path() / "cmdline"); line.find(text) != std::string::npos)
      found.push_back(std::move(line));
  return found;
}

// Other tests hand a server in that runs already.
void run_with_its_own_server(const std::string& sink) {
  RESEQ_CHANGE_STREAM(bundle, "mobility-database-catalogs.bundle");
  ::unsetenv("RESEQ_OPENSEARCH_URL");
  ::unsetenv("RESEQ_POSTGRES_URL");
  const TempDir work;
  fs::permissions(work.path(), fs::perms::owner_all | fs::perms::group_exec |
                                   fs::perms::others_exec);  // root's PostgreSQL runs as somebody else
  QuickstartRun run(bundle, {"--sink", sink}, {{"TMPDIR", work.path()}});
  EXPECT_EQ(run.wait(), 0) << run.log();
  ::unsetenv("TMPDIR");
  const auto report = nlohmann::json::parse(run.report(), nullptr, false);
  const Combination combination{"mobility", "1", "inline", "1"};
  expect_right(report, combination);
  if (testing::Test::HasFatalFailure()) return;
  expect_scrambled(report, combination);
  EXPECT_TRUE(fs::is_empty(work.path())) << "a server, or what it had";
  // What ends a server when the script is killed looks once a second whether it still runs.
  EXPECT_TRUE(wait_until(kPatience, [&] { return processes_that_name(work.path()).empty(); }))
      << testing::PrintToString(processes_that_name(work.path()));
}

TEST(LongQuickstart, StartsItsOpenSearchAndLeavesNothingRunning) {
  run_with_its_own_server("opensearch");
}

TEST(LongQuickstart, StartsItsPostgresAndLeavesNothingRunning) {
  run_with_its_own_server("postgres");
}

// Of the pipeline two processes are killed, and one stands still: only leases give back what they had.
TEST(LongQuickstart, ShowsTheJournal) {
  if (!fs::exists(source_path(".git"))) GTEST_SKIP() << "the source tree is no git checkout";
  QuickstartRun run(source_path(""), {"--journal"}, {});
  EXPECT_EQ(run.wait(), 0) << run.log();
  const auto report = nlohmann::json::parse(run.report(), nullptr, false);
  ASSERT_TRUE(report.is_object() && report.contains("journal")) << "no report";
  for (const char* name : {"journal", "immediate"}) {
    SCOPED_TRACE(name);
    for (const auto& [target, documents] : report.at(name).at("targets").items()) {
      EXPECT_EQ(documents.at("equal"), documents.at("documents")) << target;
      EXPECT_GT(documents.at("documents"), 0) << target;
      EXPECT_EQ(documents.at("resurrected"), 0) << target;
    }
    EXPECT_EQ(report.at(name).at("killed"), 2);
    EXPECT_EQ(report.at(name).at("stood_still"), 1);
  }
  const auto& journal = report.at("journal");
  EXPECT_GT(journal.at("given_back"), 0);
  EXPECT_LT(journal.at("live").at("begun").at("p50_ms"), report.at("immediate").at("live").at("begun").at("p50_ms"));
  EXPECT_LT(journal.at("live").at("readable").at("p99_ms"), journal.at("backfill").at("readable").at("p99_ms"));
  EXPECT_LT(journal.at("work_begun_again"), report.at("immediate").at("work_begun_again"));
}

TEST(Matrix, FewMeetEachHistoryNumberOfProcessesAndIntake) {
  std::set<std::string> met;
  for (const Combination& one : combinations("--few")) met.insert({one.history, one.processes, one.intake});
  EXPECT_EQ(met, (std::set<std::string>{"mobility", "rustsec", "own", "1", "3", "inline", "tap"}));
}

TEST(Matrix, PairwiseMeetsEveryPairWithoutSeedAndNoPairWithSeedTwice) {
  std::set<std::pair<std::string, std::string>> pairs, with_seed;
  std::set<std::string> seeds;
  const std::vector<Combination> all = combinations("--pairwise");
  for (const Combination& one : all) {
    pairs.insert({one.history, one.processes});
    pairs.insert({one.history, one.intake});
    pairs.insert({one.processes, one.intake});
    seeds.insert(one.seed);
    with_seed.insert({one.history, one.seed});
    with_seed.insert({one.processes, one.seed});
    with_seed.insert({one.intake, one.seed});
  }
  EXPECT_EQ(all.size(), 8U);
  EXPECT_EQ(pairs.size(), 3U * 2 + 3 * 2 + 2 * 2);
  EXPECT_EQ(seeds.size(), 5U);
  EXPECT_EQ(with_seed.size(), 3 * all.size());
}

// script/quickstart with a demo that only writes reports: right ones, but for the catalogue of some.
class MatrixOfMadeUpRuns : public testing::Test {
 protected:
  void SetUp() override {
    RESEQ_CHANGE_STREAM(bundle, "rustsec-advisory-db.bundle");
    RESEQ_CHANGE_STREAM(other, "mobility-database-catalogs.bundle");
    ASSERT_EQ(bundle.parent_path(), other.parent_path());
    if (!fs::exists(source_path(".git"))) GTEST_SKIP() << "the source tree is no git checkout";
    ::setenv("RESEQ_DATA_DIR", bundle.parent_path().c_str(), 1);
    ::setenv("RESEQ_BOOTSTRAP_SERVERS", "127.0.0.1:1", 1);
    ::setenv("RESEQ_PROGRAMS", directory_.path().c_str(), 1);
    std::ofstream(table()) << "before\n<!-- matrix: begin -->\nold\n<!-- matrix: end -->\nafter\n";
  }
  void TearDown() override {
    for (const char* name : {"RESEQ_DATA_DIR", "RESEQ_BOOTSTRAP_SERVERS", "RESEQ_PROGRAMS"}) ::unsetenv(name);
  }
  [[nodiscard]] std::string table() const { return directory_.path() + "/table.md"; }

  // Exit code of the matrix. `wrong_if`: a command of the shell; where it succeeds the catalogue has 3 wrong documents.
  int run(const std::string& wrong_if) {
    std::ofstream demo(directory_.path() + "/reseq-demo");
    demo << "#!/bin/bash\n"
            "while [ $# -gt 0 ]; do [ \"$1\" != --out ] || out=$2; [ \"$1\" != --seed ] || seed=$2; shift; done\n"
            "wrong=0 code=0\n"
            "if "
         << wrong_if
         << "; then wrong=3 code=1; fi\n"
            "target() { echo '{\"results_stopped\":{\"stale\":5,\"superseded\":'$seed'},\"released\":30,'\\\n"
            "  '\"with_resequencer\":{\"documents\":20,\"wrong\":'$1',\"resurrected\":0},'\\\n"
            "  '\"without_resequencer\":{\"wrong\":4,\"resurrected\":2}}'; }\n"
            "echo '{\"requests\":40,\"superseded_before_work\":6,\"seconds\":1.5,\"targets\":{\"search\":'\\\n"
            "  $(target 0)',\"catalogue\":'$(target $wrong)'}}' >\"$out/report.json\"\n"
            "exit $code\n";
    demo.close();
    fs::permissions(directory_.path() + "/reseq-demo", fs::perms::owner_all);
    Process runs({matrix(), "--pairwise", "--table", table()}, directory_.path() + "/log");
    return runs.wait(kShortLimitMs * 2);
  }
  TempDir directory_;
};

TEST_F(MatrixOfMadeUpRuns, WritesARowPerCellBetweenTheMarkers) {
  ASSERT_EQ(run("false"), 0) << content_of(directory_.path() + "/log");
  const std::string text = content_of(table());
  EXPECT_TRUE(text.starts_with("before\n<!-- matrix: begin -->\n\nCommit ")) << text;
  EXPECT_TRUE(text.ends_with("|\n\n<!-- matrix: end -->\nafter\n")) << text;
  EXPECT_NE(text.find("seeds 1 to 5, 8 runs, 8 of them right"), std::string::npos) << text;
  EXPECT_NE(text.find("| mobility | 1 | inline | 20 | 40 | 6 | 16 | 60 | 0 | 0 | 8 | 4 |\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("old"), std::string::npos);
}

TEST_F(MatrixOfMadeUpRuns, FailsAndNamesTheRunWhenATargetIsWrong) {
  EXPECT_EQ(run("[ $seed = 2 ]"), 1);
  const std::string log = content_of(directory_.path() + "/log");
  EXPECT_NE(log.find("FAILED, exit code 1"), std::string::npos) << log;
  EXPECT_NE(log.find("7 of 8 right"), std::string::npos) << log;
  EXPECT_NE(content_of(table()).find("| rustsec | 3 | inline | 20 | 40 | 6 | 14 | 60 | 3 | 0 | 8 | 4 |"),
            std::string::npos)
      << content_of(table());
}

}  // namespace
}  // namespace reseq::test
