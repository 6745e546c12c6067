#include "tests/bench/report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace reseq::bench {
namespace {

using testing::HasSubstr;

TEST(Report, TakesTheMedianOfRunsInAnyOrder) {
  Series series;
  for (const double value : {9.0, 1.0, 5.0}) series.add(value);
  EXPECT_EQ(series.median(), 5);
  series.add(7);
  EXPECT_EQ(series.median(), 6);
  EXPECT_EQ(series.smallest(), 1);
  EXPECT_EQ(series.largest(), 9);
}

TEST(Report, MeetsATargetFromTheRightSideOnly) {
  Metric metric{.name = "m", .value = 0.8, .goal = Goal::kAtLeast, .target = 0.8};
  EXPECT_TRUE(metric.met());
  metric.value = 0.79;
  EXPECT_FALSE(metric.met());
  metric.goal = Goal::kAtMost;
  EXPECT_TRUE(metric.met());
  metric.value = 0.81;
  EXPECT_FALSE(metric.met());
}

TEST(Report, WritesRatiosOfMediansAsTableAndJson) {
  Report report;
  for (const double value : {30.0, 10.0, 20.0}) report.series("intake", "ceiling", "records/s").add(value);
  report.series("intake", "resequencer", "records/s").add(15);
  report.add_ratio("throughput", report.find("intake", "resequencer", "records/s"),
                   report.find("intake", "ceiling", "records/s"), Goal::kAtLeast, 0.8);
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json, nlohmann::json::parse(R"({"throughput": {"value": 0.75, "target": 0.8, "ok": false}})"));
  EXPECT_THAT(report.table(), HasSubstr("0.750 >= 0.800     0.938     missed"));
}

TEST(Report, LeavesOutARatioToWhatDidNotRun) {
  Report report;
  report.series("intake", "resequencer", "records/s").add(15);
  report.add_ratio("throughput", report.find("intake", "resequencer", "records/s"),
                   report.find("intake", "streams-rocksdb", "records/s"), Goal::kAtLeast, 2.2);
  EXPECT_EQ(report.json(), "{}\n");
}

}  // namespace
}  // namespace reseq::bench
