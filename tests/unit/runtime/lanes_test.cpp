// Targets that get every version, with a worker on a simulated Kafka: what it tells of them, and what a target was it
// is for life.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulated_application.h"
#include "telling_worker.h"

namespace reseq::runtime {
namespace {

using testing::HasSubstr;

class Lanes : public TellingWorker {
 protected:
  Lanes() : TellingWorker(with_audit()) {}
  static config::Settings with_audit() {
    config::Settings settings = of_one_target();
    settings.targets.push_back({.name = "audit", .order = "total"});
    settings.orders_gap_timeout_ms = 5'000;
    return settings;
  }
  void request(const std::string& id, const std::string& sequence = "7", const std::string& targets = "") {
    std::vector<simulation::StoredHeader> headers = {{"reseq-seq", sequence}};
    if (!targets.empty()) headers.push_back({"reseq-targets", targets});
    broker.append({*broker.topic("app.requests"), Partition(0)}, {id, "{}", headers, broker.now()});
    steps(50);
  }
  void result(const std::string& id, const std::string& target) {
    broker.append(
        {*broker.topic("app.commands"), Partition(0)},
        {id, "{}", {{"reseq-command", "sequence"}, {"reseq-seq", "7"}, {"reseq-target", target}}, broker.now()});
    steps(50);
  }
  admin::Json documents() { return stats_reply(application, seen(), clock.now())["partitions"][0]["documents"]; }
};

TEST_F(Lanes, SayWhatTheyWaitForAndSkipItInTime) {
  EXPECT_THAT(text(), HasSubstr("reseq_lane_places{partition=\"0\"} 0\n"));
  request("lost");
  request("kept");
  result("kept", "audit");
  EXPECT_THAT(text(), HasSubstr("reseq_lane_places{partition=\"0\"} 2\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_held_records{partition=\"0\"} 1\n"));
  const PartitionReport report = worker.report().partitions.front();
  ASSERT_TRUE(report.lane_head.has_value());
  EXPECT_EQ(report.lane_head->id, "lost");
  EXPECT_EQ(report.lane_head->target, "audit");
  EXPECT_EQ(report.lane_head->skipped_at.value() - report.lane_head->since.value(), 5'000);
  const admin::Json lanes = documents()["lanes"];
  EXPECT_EQ(lanes["places"], 2);
  EXPECT_EQ(lanes["waits_for"]["id"], "lost");
  ticks(450);
  steps(200);
  EXPECT_THAT(text(), HasSubstr("reseq_lane_places{partition=\"0\"} 0\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_gaps_total 1\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_held_released_total 1\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_markers_total 0\n")) << "what was held is no marker";
  EXPECT_THAT(text(), HasSubstr("reseq_waits_ended_total{end=\"dropped\"} 0\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_waits_ended_total{end=\"dead_lettered\"} 0\n"))
      << "a gap waited for no dispatch";
}

// The other targets take it, so its outcome does not say it.
TEST_F(Lanes, CountWhatCameTooLateForOneOfThemAsOlder) {
  request("book", "7", "audit");
  request("book", "6");
  EXPECT_EQ(worker.totals().older_requests, 1U);
  request("book", "8");
  request("book", "8");
  EXPECT_EQ(worker.totals().older_requests, 1U) << "that is the same once more";
}

// A document waits in the lane of `audit`, and the process that took it is gone.
class LanesThatStand : public SimulatedApplication {
 protected:
  LanesThatStand() : SimulatedApplication(1, with_audit()) {
    Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
    broker.append({*broker.topic("app.requests"), Partition(0)}, {"book", "{}", {{"reseq-seq", "7"}}, broker.now()});
    for (int i = 0; i < 2'000 && worker.totals().inputs != 1; ++i) test::good(step(worker));
    for (int i = 0; i < 10; ++i) test::good(step(worker));  // until it is committed
    EXPECT_EQ(worker.tasks().front()->store().summary().counts[Count::kPlaces], 1U);
  }
  static config::Settings with_audit() {
    config::Settings settings = of_one_target();
    settings.targets.push_back({.name = "audit", .order = "total"});
    return settings;
  }
  Result<> step(Worker& worker) {
    auto stepped = worker.step();
    ticks(1);
    return stepped;
  }
  // What the next worker says when it ends; empty: it goes on.
  std::string end_of_next() {
    Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 2'000; ++i) {
      (void)worker.report();
      if (const auto stepped = step(worker); !stepped) return stepped.error().message;
    }
    EXPECT_TRUE(worker.report().partitions.front().lane_head.has_value());
    return {};
  }
};

TEST_F(LanesThatStand, AreToldOfWhileTheyAreTakenOver) {
  EXPECT_EQ(end_of_next(), "");
}

TEST_F(LanesThatStand, CountNoResultThatIsTooLargeByNowAsWork) {
  const auto result = [&](const std::string& id, std::size_t bytes) {
    broker.append({*broker.topic("app.commands"), Partition(0)},
                  {id,
                   std::string(bytes, 'x'),
                   {{"reseq-command", "sequence"}, {"reseq-seq", "7"}, {"reseq-target", "audit"}},
                   broker.now()});
  };
  broker.append({*broker.topic("app.requests"), Partition(0)}, {"film", "{}", {{"reseq-seq", "7"}}, broker.now()});
  {
    Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
    result("film", 5'000);
    for (int i = 0; i < 500; ++i) test::good(step(worker));
    ASSERT_EQ(worker.tasks().front()->store().summary().counts[Count::kHeldRecords], 1U);
  }
  application.record_bytes_max[application.topics.output(1).value()] = 2'000;
  Worker worker(application, *kafka, clock, shelf, [] { return HashKey{}; });
  result("book", 10);
  for (int i = 0; i < 2'000 && worker.totals().inputs == 0; ++i) test::good(step(worker));
  for (int i = 0; i < 50; ++i) test::good(step(worker));
  EXPECT_EQ(worker.tasks().front()->store().summary().counts[Count::kPlaces], 0U);
  const auto ended = [&](WaitEnd end) { return worker.totals().waits_ended[static_cast<std::size_t>(end)]; };
  EXPECT_EQ(ended(WaitEnd::kDeadLettered), 0U) << "it waited for no dispatch";
  EXPECT_EQ(ended(WaitEnd::kDropped), 0U);
  const simulation::Log& letters = broker.log({*broker.topic("app.dead-letter"), Partition(0)});
  EXPECT_NE(letters.next_committed(letters.begin()), nullptr);
}

TEST_F(LanesThatStand, DoNotLoseTheirTarget) {
  application.settings.targets.pop_back();
  EXPECT_THAT(end_of_next(), HasSubstr("documents still wait for target audit"));
}

TEST_F(LanesThatStand, DoNotBecomeOthers) {
  application.settings.targets.back().order = "strict";
  EXPECT_THAT(end_of_next(), HasSubstr("set order = \"total\""));
}

TEST_F(Lanes, AreForLife) {
  const TargetTable born = extended(application, TargetTable()).value();
  EXPECT_EQ(born.ordered().total, TargetSet(2));
  application.settings.targets[0].order = "monotonic";
  EXPECT_TRUE(extended(application, born).ok()) << "these two are judged alike";
  application.settings.targets[0].order = "strict";
  EXPECT_THAT(extended(application, born).error().message,
              HasSubstr("target \"search\" is strict in the configuration and newest in the state"));
  application.settings.targets[0].order = "newest";
  application.settings.targets[1].order = "strict";
  EXPECT_THAT(extended(application, born).error().message, HasSubstr("set order = \"total\", or give the target"));
  application.settings.targets[1] = {.name = "audit-2", .order = "strict"};
  const auto grown = extended(application, born);
  ASSERT_TRUE(grown.ok());
  EXPECT_EQ(grown.value().ordered(), (OrderedTargets{TargetSet(4), TargetSet(2)}));
}

}  // namespace
}  // namespace reseq::runtime
