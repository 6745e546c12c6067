// The share of chaos that runs with every change: each failpoint once, and a minute of mixed faults on one broker and
// on three. Longer runs: script/test --long and script/chaos (docs/testing.md, "Chaos"). A seed does not repeat a run,
// because threads and brokers go their own ways; it repeats what is done to them. RESEQ_CHAOS_SEED changes it: a
// number, or `random`.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <random>
#include <string>

#include "tests/chaos/run/run.h"

namespace reseq::chaos {
namespace {

using testing::IsEmpty;

std::uint64_t seed(std::uint64_t otherwise) {
  const char* text = std::getenv("RESEQ_CHAOS_SEED");
  if (text == nullptr) return otherwise;
  return std::string(text) == "random" ? std::random_device()() : std::stoull(text);
}

// With a proof that the broker has torn a transaction, what went wrong is void: it is played again. The last play
// counts.
constexpr int kPlaysMax = 3;

constexpr std::uint64_t kBacklog = 2'000;

// `waited_least`: documents of the backlog that have to wait.
void run(RunOptions options, std::uint64_t waited_least = 0) {
  std::string place;
  RunReport report;
  for (int plays = 1; plays <= kPlaysMax; ++plays) {
    place = (std::filesystem::temp_directory_path() / "reseq-chaos-XXXXXX").string();
    ASSERT_NE(::mkdtemp(place.data()), nullptr);
    options.folder = place;
    std::cout << "seed=" << options.seed << std::endl;
    report = run_chaos(options);
    std::cout << report.details << void_lines(report) << last_line(options, report) << std::endl;
    if (!report.is_void()) break;
    if (plays < kPlaysMax) std::cout << "kept: " << place << std::endl;
  }
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_GT(report.records, 0U);
  EXPECT_GT(report.kills, 0U);
  const bool is_long_enough = options.kills_per_failpoint == 0;
  EXPECT_TRUE(report.unchanged > 0 || !is_long_enough) << "nothing of it was asked for twice";
  EXPECT_GE(report.waited, waited_least);
  EXPECT_EQ(report.held > 0, options.orders) << "results of ordered targets come before their turn";
  EXPECT_EQ(report.skipped > 0, options.orders && !options.journal) << "one in a hundred results is lost";
  EXPECT_EQ(report.failed > 0, options.journal) << "work with leases fails now and then";
  if (testing::Test::HasFailure()) {
    std::cout << "kept: " << place << std::endl;
  } else {
    std::filesystem::remove_all(place);
  }
}

// With targets that get every version beside those that get the newest one.
TEST(Chaos, EveryFailpointKillsOnce) {
  run({.seed = seed(1), .kills_per_failpoint = 1, .orders = true, .rate = 300});
}

// Some steps of three processes with a journal while a backlog drains; script/test --long chaos-waiting takes them all.
TEST(Chaos, ProcessesWithAJournalDieWhileABacklogDrains) {
  run({.seed = seed(4),
       .kills_per_failpoint = 3,
       .points = {"transaction.commit", "transaction.apply", "takeover.restore", "checkpoint.written"},
       .journal = true,
       .orders = true,
       .backlog = kBacklog,
       .rate = 200},
      kBacklog / 5);
}

TEST(Chaos, OneMinuteOfMixedFaultsOnOneBroker) {
  run({.minutes = 1, .seed = seed(2), .brokers = 1});
}

TEST(Chaos, OneMinuteOfMixedFaultsOnThreeBrokers) {
  run({.minutes = 1, .seed = seed(3), .brokers = 3, .rate = 300});
}

}  // namespace
}  // namespace reseq::chaos
