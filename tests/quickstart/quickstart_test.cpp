// The first command of the README, as a user runs it: on the project's own history and on both change streams, three
// seeds each, with one and with two resequencers side by side. One Kafka serves all runs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "tests/support/broker.h"
#include "tests/support/change_streams.h"
#include "tests/support/process.h"

namespace reseq::test {
namespace {

constexpr int kLimitMs = 300'000;
constexpr const char* kOwnHistory = "own";

using Parameters = std::tuple<std::string, int>;  // history, seed

// One run of script/quickstart with the programs of this build.
class QuickstartRun {
 public:
  QuickstartRun(const std::string& repository, int seed, int processes)
      : kept_(directory_.path() + "/kept"),
        quickstart_({std::string(RESEQ_SOURCE_DIR) + "/script/quickstart", "--repo", repository, "--seed",
                     std::to_string(seed), "--processes", std::to_string(processes), "--out", kept_},
                    directory_.path() + "/log") {}

  // The report of a run that ended well.
  nlohmann::json report() {
    EXPECT_EQ(quickstart_.wait(kLimitMs), 0) << quickstart_.tail();
    EXPECT_TRUE(std::filesystem::exists(kept_ + "/search.db"));
    std::ifstream report(kept_ + "/report.json");
    return nlohmann::json::parse(report, nullptr, false);
  }

 private:
  TempDir directory_;
  std::string kept_;
  Process quickstart_;
};

void expect_right(const nlohmann::json& report, int processes) {
  ASSERT_TRUE(report.is_object()) << "no report";
  EXPECT_EQ(report.at("processes"), processes);
  const auto& index = report.at("with_resequencer");
  EXPECT_EQ(index.at("wrong"), 0);
  EXPECT_EQ(index.at("resurrected"), 0);
  EXPECT_EQ(index.at("equal"), index.at("documents"));
  EXPECT_GT(index.at("documents"), 0);
  EXPECT_EQ(report.at("workers").size(), 8U);
  for (const auto& records : report.at("workers")) EXPECT_GT(records, 0) << "a worker without a record";
}

// What the demo is for: the scrambling did harm, and the resequencer saved work.
void expect_scrambled(const nlohmann::json& report) {
  EXPECT_GT(report.at("superseded_before_work"), 0);
  EXPECT_GT(report.at("without_resequencer").at("wrong"), 0);
  EXPECT_GT(report.at("without_resequencer").at("resurrected"), 0);
}

class Quickstart : public testing::TestWithParam<Parameters> {};

TEST_P(Quickstart, EndsWithTheIndexOfTheCommit) {
  const auto& [history, seed] = GetParam();
  std::string repository = RESEQ_SOURCE_DIR;
  if (history != kOwnHistory) {
    RESEQ_CHANGE_STREAM(bundle, history);
    repository = bundle.string();
  } else if (!std::filesystem::exists(repository + "/.git")) {
    GTEST_SKIP() << "the source tree is no git checkout";
  }
  ::setenv("RESEQ_BOOTSTRAP_SERVERS", Broker::shared().bootstrap_servers().c_str(), 1);
  ::setenv("RESEQ_PROGRAMS", std::filesystem::path(program("resequencer")).parent_path().c_str(), 1);
  QuickstartRun alone(repository, seed, 1);
  QuickstartRun in_two(repository, seed, 2);
  for (auto [run, processes] : {std::pair(&alone, 1), std::pair(&in_two, 2)}) {
    SCOPED_TRACE(std::to_string(processes) + " resequencers");
    const nlohmann::json report = run->report();
    expect_right(report, processes);
    if (history != kOwnHistory && seed == 1) expect_scrambled(report);
  }
}

std::string name_of(const testing::TestParamInfo<Parameters>& info) {
  const std::string& history = std::get<0>(info.param);
  return history.substr(0, history.find_first_of("-.")) + "Seed" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Histories, Quickstart,
                         testing::Combine(testing::Values(kOwnHistory, "rustsec-advisory-db.bundle",
                                                          "mobility-database-catalogs.bundle"),
                                          testing::Values(1, 2, 3)),
                         name_of);

}  // namespace
}  // namespace reseq::test
