// The correctness part of the benchmark: every part of it runs with few records and finds the outputs right.
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/broker.h"
#include "tests/support/process.h"

namespace reseq::bench {
namespace {

constexpr int kLimitMs = 500'000;

TEST(Bench, MeasuresEveryPartAndFindsTheOutputsRight) {
  const test::TempDir folder;
  const std::string json_file = folder.path() + "/metrics.json";
  test::Process bench({test::program("reseq-bench"), "--bootstrap-servers", test::Broker::shared().bootstrap_servers(),
                       "--folder", folder.path(), "--scale", "0.002", "--rounds", "1", "--json", json_file},
                      folder.path() + "/bench.log");
  ASSERT_EQ(bench.wait(kLimitMs), 0) << bench.tail();
  const auto metrics = nlohmann::json::parse(std::ifstream(json_file));
  for (const char* name :
       {"engine_commands_per_s", "checkpoint_to_plain_lmdb", "intake_throughput_to_ceiling", "intake_cpu_to_ceiling",
        "intake_anonymous_mb", "hop_p50_to_bare_transaction", "hop_p99_to_bare_transaction",
        "skewed_throughput_to_uniform", "growth_cpu", "asked_throughput_to_not_asked",
        "hop_p99_over_many_to_few_partitions", "dead_neighbour_taken_over_s"})
    EXPECT_GT(metrics.at(name).at("value").get<double>(), 0) << name;
  EXPECT_NE(bench.tail().find("two-processes"), std::string::npos) << bench.tail();
}

}  // namespace
}  // namespace reseq::bench
