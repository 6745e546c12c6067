// A target cannot be reached for a while: nothing is given up, the other target goes on, and all of it arrives behind.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/e2e/echo_pipeline.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/e2e/source.h"
#include "tests/e2e/workload.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kInFlightMax = 200;       // so few that a short outage has more than are under way
constexpr std::size_t kInFlightOfLong = 1'000;  // as it is unless it is set
constexpr std::size_t kTwoPartitions = 2;
// The goal is 2 (docs/failures-in-numbers.md). What waited is read again, which is what it takes longer.
constexpr double kTimesOfBacklogMax = 8;
constexpr std::int64_t kSecondsToCompare = 60;  // what a start takes is a tenth of it at most
constexpr std::size_t kBad = 3;                 // documents

// One retry alone: a document that lost it to the outage would be given up with the next failure.
const std::string kRules =
    "init.partitions = 2\ninit.output_partitions = 2\ninit.work_partitions = 2\n"
    "[failures]\nmode = \"retry\"\non_failure = \"marker\"\nretries_max = 1\nbackoff_ms = 200\nbackoff_max_ms = "
    "200\nrepeats_max = 5\n"
    "breaker_documents = 3\nbreaker_pause_ms = 200\nbreaker_pause_max_ms = 2000\n";

// Follows an output topic: how many documents have got what is newest for them.
class Arrivals {
 public:
  Arrivals(const ResequencerRun& run, const Workload& workload, const std::string& target)
      : newest_(workload.end().at(target)), consumer_(good(kafka::GroupConsumer::open(run.connection()))) {
    good(consumer_->assign_all(run.topic("output." + target), {}, Milliseconds(10'000)));
  }
  [[nodiscard]] std::size_t all() const { return newest_.size(); }
  // Reads what is there.
  std::size_t look() {
    while (const auto polled = good(consumer_->poll(Milliseconds(100)))) {
      const auto expected = newest_.find(std::string(polled->key.value_or("")));
      for (const Header& header : polled->headers)
        if (expected != newest_.end() && header.name == "reseq-seq" &&
            header.value == std::to_string(expected->second.sequence))
          there_.insert(expected->first);
    }
    return there_.size();
  }

 private:
  const std::map<std::string, Expected>& newest_;
  std::unique_ptr<kafka::GroupConsumer> consumer_;
  std::set<std::string> there_;
};

// How often work was sent that a target is part of.
std::size_t sent_for(const ResequencerRun& run, const std::string& target) {
  std::size_t sent = 0;
  read_all(run.connection(), run.topic("work"), [&](const kafka::PlainRecord& record) {
    for (const Header& header : record.headers)
      if (header.name == "reseq-targets" && header.value.value_or("").find(target) != std::string_view::npos) ++sent;
  });
  return sent;
}

void send_bad(const ResequencerRun& run) {
  auto producer = kafka::PlainProducer::open(run.connection());
  ASSERT_TRUE(producer.ok());
  for (std::size_t i = 0; i < kBad; ++i)
    ASSERT_TRUE(producer.value()->send(run.topic("requests"), std::string(kBadPrefix) + std::to_string(i), "bad",
                                       std::vector<Header>{{"reseq-seq", "1"}}));
  ASSERT_TRUE(producer.value()->flush(Milliseconds(60'000)));
}

// Documents of which an output says that there is no result.
std::set<std::string> marked(const ResequencerRun& run) {
  std::set<std::string> ids;
  for (const std::string& target : kTwoTargets)
    read_all(run.connection(), run.topic("output." + target), [&](const kafka::PlainRecord& record) {
      const auto says = [&](std::string_view name, std::string_view value) {
        return std::any_of(record.headers.begin(), record.headers.end(),
                           [&](const Header& one) { return one.name == name && one.value == value; });
      };
      if (says("reseq-op", "failed") && record.payload.value_or("").find("\"attempts\"") != std::string_view::npos)
        ids.emplace(record.key.value_or(""));
    });
  return ids;
}

bool is_long() {
  return std::getenv("RESEQ_OUTAGE_S") != nullptr;
}

struct Times {
  milliseconds source;   // to write the requests
  milliseconds others;   // from then on to the last result of the other target
  milliseconds backlog;  // from the end of the outage to the last result
};

milliseconds since(steady_clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
}

// As many documents for one target that is there, all of them written before anybody works.
milliseconds backlog_alone(const std::string& rules, std::size_t documents) {
  const std::string& target = kTwoTargets.front();
  const Workload workload(20260101, documents, 1, {target});
  ResequencerRun run(Broker::shared().bootstrap_servers(), unique_name("alone"), {target}, rules);
  const std::atomic<bool> never = false;
  Source(run).send(workload, 0, workload.requests().size(), milliseconds(0), never);
  Arrivals arrivals(run, workload, target);
  const auto begin = steady_clock::now();
  EchoPipeline pipeline(run.connection(), run.application_id(), 7);
  const auto process = run.start(1);
  EXPECT_TRUE(wait_until(10 * kPatience, [&] { return arrivals.look() == arrivals.all(); }))
      << "of " << arrivals.all() << " documents " << arrivals.look() << " came: " << process->tail();
  const milliseconds took = since(begin);
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(15'000), 0) << process->tail();
  return took;
}

// Of long outages alone: what seconds take says nothing of a program.
void check_times(const Times& times, milliseconds alone) {
  const auto ratio = [](milliseconds a, milliseconds b) {
    return static_cast<double>(a.count()) / static_cast<double>(b.count());
  };
  std::cout << "times that the backlog alone takes: " << ratio(times.backlog, alone) << " (" << alone.count()
            << " ms), times that the source takes, for the other target: " << ratio(times.others, times.source)
            << std::endl;
  EXPECT_LE(ratio(times.backlog, alone), kTimesOfBacklogMax);
  EXPECT_LE(ratio(times.others, times.source), 1.1);
}

// Bad documents are given up, and nobody else; of everything else there is the newest.
void check_end(const ResequencerRun& run, const Workload& workload) {
  std::set<std::string> letters;
  read_all(run.connection(), run.topic("dead-letter"),
           [&](const kafka::PlainRecord& record) { letters.emplace(record.key.value_or("")); });
  EXPECT_THAT(letters, SizeIs(kBad)) << "bad documents are given up, and nobody else";
  EXPECT_THAT(letters, Each(testing::StartsWith(std::string(kBadPrefix))));
  EXPECT_THAT(marked(run), testing::UnorderedElementsAreArray(letters)) << "outputs are told of them";
  for (const std::string& target : kTwoTargets) {
    auto outputs = read_outputs(run.connection(), run.topic("output." + target));
    std::erase_if(outputs, [](const Released& one) { return one.id.starts_with(kBadPrefix); });
    EXPECT_THAT(violations(outputs, workload.end().at(target)), IsEmpty()) << "target " << target;
  }
}

class Outage : public testing::TestWithParam<const char*> {};  // dispatch.mode

// RESEQ_OUTAGE_S and RESEQ_OUTAGE_RATE (requests a second) make it longer.
TEST_P(Outage, CostsNobodyARetryAndHoldsUpNoOtherTarget) {
  const auto seconds = static_cast<std::int64_t>(number_from("RESEQ_OUTAGE_S", 8));
  const std::uint64_t rate = number_from("RESEQ_OUTAGE_RATE", 500);
  const Workload workload(20260101, rate * static_cast<std::uint64_t>(seconds), 1, kTwoTargets);
  const std::string down = kTwoTargets.front();
  const std::string other = kTwoTargets.back();
  const std::size_t in_flight = is_long() ? kInFlightOfLong : kInFlightMax;
  const std::string rules = "dispatch.mode = \"" + std::string(GetParam()) +
                            "\"\ndispatch.in_flight_max = " + std::to_string(in_flight) + "\n" + kRules;
  ResequencerRun run(Broker::shared().bootstrap_servers(), unique_name("outage"), kTwoTargets, rules);
  EchoPipeline pipeline(run.connection(), run.application_id(), 7);
  auto process = run.start(1);
  pipeline.set_down(down, true);
  send_bad(run);
  const std::atomic<bool> never = false;
  Times times{};
  auto begin = steady_clock::now();
  Source(run).send(workload, 0, workload.requests().size(), milliseconds(seconds * 1'000), never);
  times.source = since(begin);

  // It is down for as long as this takes, however long that is.
  Arrivals others(run, workload, other);
  EXPECT_TRUE(wait_until(2 * kPatience, [&] { return others.look() == others.all(); }))
      << "of " << others.all() << " documents " << others.look() << " came to the other target";
  times.others = since(begin);
  const std::size_t tried = sent_for(run, down);
  Arrivals arrivals(run, workload, down);
  std::cout << "while it was down " << tried << " of " << arrivals.all()
            << " documents were sent to the pipeline for it" << std::endl;
  // What was under way when it opened, once more for those that lost a retry, and those that tried.
  EXPECT_LT(tried, 3 * in_flight * kTwoPartitions);

  pipeline.set_down(down, false);
  begin = steady_clock::now();
  EXPECT_TRUE(
      wait_until(2 * kPatience + milliseconds(seconds * 1'000), [&] { return arrivals.look() == arrivals.all(); }))
      << "of " << arrivals.all() << " documents " << arrivals.look() << " came behind the outage";
  times.backlog = since(begin);
  std::cout << "the backlog of " << arrivals.all() << " documents took " << times.backlog.count() << " ms" << std::endl;

  ASSERT_TRUE(wait_until(kPatience, [&] { return run.drained() && pipeline.idle_ms() > 1'000; })) << process->tail();
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(15'000), 0) << process->tail();
  if (seconds >= kSecondsToCompare) check_times(times, backlog_alone(rules, workload.requests().size()));
  check_end(run, workload);
}

INSTANTIATE_TEST_SUITE_P(Modes, Outage, testing::Values("journal", "immediate"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace reseq::test
