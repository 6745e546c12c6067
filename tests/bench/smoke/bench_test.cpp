// The correctness part of the benchmark: every part of it runs with few records and finds the outputs right. Those of
// a record's way do so for every change, the others in a slice of long runs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/postgres/server.h"
#include "tests/support/broker.h"
#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::bench {
namespace {

constexpr int kLimitMs = 500'000;

void expect_values(const std::string& json_file, const std::vector<std::string>& names) {
  const auto metrics = nlohmann::json::parse(std::ifstream(json_file));
  for (const std::string& name : names) EXPECT_GT(metrics.at(name).at("value").get<double>(), 0) << name;
}

// With few records, once; the output of the program.
std::string measure(const std::vector<std::string>& parts, const std::vector<std::string>& metrics) {
  const test::TempDir folder;
  const std::string json_file = folder.path() + "/metrics.json";
  std::vector<std::string> argv = {test::program("reseq-bench"),
                                   "--bootstrap-servers",
                                   test::Broker::shared().bootstrap_servers(),
                                   "--folder",
                                   folder.path(),
                                   "--postgres",
                                   test::PostgresServer::shared().url("postgres"),
                                   "--scale",
                                   "0.002",
                                   "--rounds",
                                   "1",
                                   "--json",
                                   json_file};
  for (const std::string& part : parts) argv.insert(argv.end(), {"--part", part});
  test::Process bench(argv, folder.path() + "/bench.log");
  EXPECT_EQ(bench.wait(kLimitMs), 0) << bench.tail();
  if (!testing::Test::HasFailure()) expect_values(json_file, metrics);
  return bench.tail();
}

TEST(Bench, MeasuresEveryPartAndFindsTheOutputsRight) {
  const std::string output =
      measure({"micro", "intake", "life", "hop", "skew", "growth", "processes", "asking", "partitions"},
              {"engine_commands_per_s", "checkpoint_to_plain_lmdb", "intake_throughput_to_ceiling",
               "intake_cpu_to_ceiling", "intake_anonymous_mb", "hop_p50_to_bare_transaction",
               "hop_p99_to_bare_transaction", "skewed_throughput_to_uniform", "growth_cpu",
               "asked_throughput_to_not_asked", "hop_p99_over_many_to_few_partitions", "dead_neighbour_taken_over_s"});
  EXPECT_NE(output.find("two-processes"), std::string::npos) << output;
}

// What is released is what was enqueued, and dispatched class by class, or the program fails.
TEST(LongBench, MeasuresWhatWaitsBesideAQueueInADatabase) {
  (void)measure({"journal"},
                {"journal_life_cpu_to_immediate", "journal_room_life_cpu_to_immediate", "journal_drain_to_life",
                 "journal_dispatch_to_intake", "journal_reference_dispatch_to_intake",
                 "journal_urgent_p99_to_immediate", "journal_urgent_p99_to_idle", "journal_ready_with_copy_s",
                 "journal_restored_per_s", "journal_restore_to_fetching", "journal_waiting_anonymous_mb",
                 "journal_queue_throughput_to_postgres", "journal_queue_cpu_to_postgres"});
}

// Every document is tried as often as it should be, and none ends old, or the program fails.
TEST(LongBench, MeasuresWhatARetryCosts) {
  (void)measure({"failures"}, {"failures_retry_cpu_to_life", "failures_one_percent_throughput_to_none",
                               "failures_one_percent_cpu_to_none", "failures_burst_urgent_p99_to_calm",
                               "failures_burst_p99_to_calm", "failures_burst_immediate_p99_to_calm"});
}

// Every version is there and in its order, and what was lost is passed by, or the program fails.
TEST(LongBench, MeasuresWhatItCostsToGetEveryVersion) {
  (void)measure({"orders"}, {"orders_strict_throughput_to_newest", "orders_reversed_throughput_to_newest",
                             "orders_total_throughput_to_newest", "orders_held_restored_per_s"});
}

// The script starts the servers. A sink that did not take every record fails it.
TEST(LongBench, MeasuresTheSinksForServers) {
  const test::TempDir folder;
  const std::string json_file = folder.path() + "/metrics.json";
  ::setenv("RESEQ_PROGRAMS", std::filesystem::path(test::program("reseq-bench")).parent_path().c_str(), 1);
  test::Process bench(
      {test::source_path("script/bench"), "--part", "sinks", "--scale", "0.5", "--rounds", "1", "--json", json_file},
      folder.path() + "/bench.log");
  ASSERT_EQ(bench.wait(kLimitMs), 0) << bench.tail();
  expect_values(json_file, {"postgres_exactly-once_throughput_to_plain", "postgres_exactly-once_cpu_to_plain",
                            "postgres_at-least-once_throughput_to_plain", "opensearch_versions_throughput_to_plain",
                            "opensearch_versions_cpu_to_plain"});
}

}  // namespace
}  // namespace reseq::bench
