// What metrics and stats tell of requests that wait, of a worker on a simulated Kafka that sends one document at a
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/desk/queue_report.h"
#include "telling_worker.h"

namespace reseq::runtime {
namespace {

using testing::HasSubstr;

class Queue : public TellingWorker {
 protected:
  static constexpr std::int64_t kLeaseMs = 60'000;

  Queue() : TellingWorker(one_at_a_time()) {}
  static config::Settings one_at_a_time() {
    config::Settings settings = of_one_target();
    settings.dispatch_mode = "journal";
    settings.dispatch_in_flight_max = 1;
    settings.dispatch_lease_ms = kLeaseMs;
    settings.dispatch_timeouts_max = 0;
    return settings;
  }
  void request(const std::string& id, int sequence, const std::vector<simulation::StoredHeader>& more = {}) {
    std::vector<simulation::StoredHeader> headers = {{"reseq-seq", std::to_string(sequence)}};
    headers.insert(headers.end(), more.begin(), more.end());
    broker.append({*broker.topic("app.requests"), Partition(0)}, {id, "{}", headers, broker.now()});
    steps(100);
  }
  void result(const std::string& id, int sequence) {
    broker.append({*broker.topic("app.commands"), Partition(0)},
                  {id,
                   "{}",
                   {{"reseq-command", "sequence"}, {"reseq-seq", std::to_string(sequence)}, {"reseq-target", "search"}},
                   broker.now()});
    steps(100);
  }
  // What was held, as the formula of docs/metrics.md has it.
  std::int64_t held_by_the_formula() {
    const WorkerReport report = worker.report();
    auto held = static_cast<std::int64_t>(report.totals.outcomes.of(Outcome::kWaiting) + report.totals.leases_lost);
    for (const std::uint64_t ended : report.totals.waits_ended) held -= static_cast<std::int64_t>(ended);
    return held;
  }
  std::uint64_t ended(WaitEnd end) { return worker.report().totals.waits_ended[static_cast<std::size_t>(end)]; }
  std::uint64_t held() { return worker.report().partitions.front().held_records; }
  void expect_formula(std::uint64_t records) {
    EXPECT_EQ(held(), records);
    EXPECT_EQ(held_by_the_formula(), static_cast<std::int64_t>(records));
  }
};

TEST_F(Queue, TellsByPriorityWhatWaitsAndWhatIsUnderWay) {
  request("a", 1);
  request("b", 1, {{"reseq-priority", "7"}});
  request("c", 1, {{"reseq-priority", "7"}});
  steps(400);
  const std::string metrics = text();
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_waiting{priority=\"7\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_waiting{priority=\"100\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_processing{priority=\"7\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_processing{priority=\"100\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_held_records{partition=\"0\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_outcomes_total{outcome=\"waiting\",reason=\"none\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_oldest_due_seconds{priority=\"100\"} 0\n"));
  const std::vector<QueueReport> queue = queue_report(worker.report().partitions.front());
  ASSERT_EQ(queue.size(), 2U);
  EXPECT_TRUE(queue.front().due_since);
  EXPECT_FALSE(queue.back().due_since);
  EXPECT_GT(worker.report().partitions.front().held_bytes, 0U);
}

TEST_F(Queue, ListsWhatWaitsWhatIsUnderWayAndWhatIsStuck) {
  request("a", 1);
  request("b", 1, {{"reseq-priority", "7"}});
  ticks(2'000);  // of ten milliseconds
  request("c", 1, {{"reseq-process-at", std::to_string(clock.now().value() + 600'000)}});
  const auto ids = [&](admin::State state, Milliseconds older_than = Milliseconds(0)) {
    admin::ListQuery list;
    list.state = state;
    list.older_than = older_than;
    std::vector<std::string> found;
    const StateAnswered answer = ask(list);
    for (const FoundDocument& one : answer->documents) found.push_back(one.id);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(admin::State::kWaiting), (Ids{"b", "c"}));
  EXPECT_EQ(ids(admin::State::kProcessing), (Ids{"a"}));
  EXPECT_EQ(ids(admin::State::kStuck), Ids{});
  EXPECT_EQ(ids(admin::State::kLive), (Ids{"a", "b", "c"}));
  EXPECT_EQ(ids(admin::State::kWaiting, Milliseconds(15'000)), (Ids{"b"})) << "c came later";
  EXPECT_EQ(ids(admin::State::kProcessing, Milliseconds(15'000)), (Ids{"a"}));
  EXPECT_EQ(ids(admin::State::kProcessing, Milliseconds(60'000)), Ids{});
}

TEST_F(Queue, SaysWhatKeepsADocument) {
  request("a", 1);
  request("a", 2);
  request("b", 1);
  request("c", 1, {{"reseq-process-at", std::to_string(clock.now().value() + 30'000)}});
  const auto told = [&](const std::string& id) {
    return state_json(*ask(admin::DocumentQuery{id}), application, clock.now());
  };
  const admin::Json both = told("a");
  EXPECT_EQ(both["in_flight"], (admin::Json{{"documents", 1}, {"max", 1}}));
  const admin::Json& journal = both["documents"][0]["journal"];
  ASSERT_EQ(journal.size(), 2U);
  EXPECT_EQ(journal[0]["waits_for"], "older_order");
  EXPECT_EQ(journal[1]["state"], "processing");
  EXPECT_FALSE(journal[1].contains("waits_for"));
  EXPECT_EQ(told("b")["documents"][0]["journal"][0]["waits_for"], "room");
  EXPECT_EQ(told("c")["documents"][0]["journal"][0]["waits_for"], "date");
  EXPECT_EQ(told("b")["documents"][0]["state"], "live");
}

TEST_F(Queue, TellsStatsWhatMetricsTell) {
  request("a", 1);
  request("b", 1);
  steps(400);
  const admin::Json reply = stats_reply(application, seen(), clock.now());
  const admin::Json& documents = reply["partitions"][0]["documents"];
  EXPECT_EQ(documents["by_priority"]["100"]["waiting"], 1);
  EXPECT_EQ(documents["by_priority"]["100"]["processing"], 1);
  EXPECT_TRUE(documents["by_priority"]["100"].contains("due_since"));
  EXPECT_EQ(documents["held"]["records"], 1);
  EXPECT_FALSE(documents.contains("stuck"));
  EXPECT_EQ(reply["waits"]["ended"]["dispatched"], 0);
  EXPECT_EQ(reply["waits"]["leases_lost"], 0);
  result("a", 1);
  EXPECT_EQ(stats_reply(application, seen(), clock.now())["waits"]["ended"]["dispatched"], 1);
}

TEST_F(Queue, CountsFromZeroOn) {
  const std::string metrics = text();
  for (const std::string_view end : kWaitEndNames)
    EXPECT_THAT(metrics, HasSubstr("reseq_waits_ended_total{end=\"" + std::string(end) + "\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_leases_lost_total 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_body_gone_total 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_waiting{priority=\"100\"} 0\n"));
}

TEST_F(Queue, CountsWhatLeavesAndWhatANewerRequestReplaces) {
  request("a", 1);  // leaves at once: it never waited
  request("b", 1);
  request("b", 2);  // takes the place of the one before
  expect_formula(1);
  EXPECT_EQ(ended(WaitEnd::kDropped), 1U);
  EXPECT_EQ(ended(WaitEnd::kDispatched), 0U);
  result("a", 1);
  expect_formula(0);
  EXPECT_EQ(ended(WaitEnd::kDispatched), 1U);
  EXPECT_THAT(text(), HasSubstr("reseq_waits_ended_total{end=\"dispatched\"} 1\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_outcomes_total{outcome=\"forwarded\",reason=\"none\"} 1\n"));
}

TEST_F(Queue, CountsWhatNobodyWantsAnyMore) {
  request("a", 1);
  request("b", 1, {{"reseq-expires-at", std::to_string(clock.now().value() + 20'000)}});
  request("c", 1, {{"reseq-expires-at", std::to_string(clock.now().value() - 1)}});  // an outcome alone
  expect_formula(1);
  ticks(3'000);
  steps(200);
  expect_formula(0);
  EXPECT_EQ(ended(WaitEnd::kExpired), 1U);
  EXPECT_EQ(ended(WaitEnd::kDropped), 0U);
}

TEST_F(Queue, CountsLostLeasesAndWhoIsStuck) {
  request("a", 1);
  ticks(static_cast<int>(kLeaseMs / 10));
  steps(300);
  EXPECT_EQ(worker.report().totals.leases_lost, 1U);
  EXPECT_EQ(held_by_the_formula(), static_cast<std::int64_t>(held()));
  steps(2'000);
  EXPECT_THAT(text(), HasSubstr("reseq_documents_stuck{partition=\"0\"} 1\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_leases_lost_total 1\n"));
  admin::ListQuery list;
  list.state = admin::State::kStuck;
  ASSERT_EQ(ask(list)->documents.size(), 1U);
  const admin::Json told = state_json(*ask(list), application, clock.now());
  EXPECT_EQ(told["documents"][0]["journal"][0]["stuck"], true);
}

}  // namespace
}  // namespace reseq::runtime
