// What somebody gets who configures a target and nothing else: a worker on a simulated Kafka, with the defaults.
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using simulation::Log;
using simulation::StoredRecord;
using test::good;
using testing::HasSubstr;

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;

class Defaults : public SimulatedApplication {
 protected:
  Defaults() { application.delete_retention = Milliseconds(24 * kHourMs); }  // of the brokers: no heartbeats between

  void step(std::int64_t ms) {
    good(worker.step());
    ticks(1, ms);
  }
  void run(std::int64_t for_ms, std::int64_t step_ms) {
    const std::int64_t until = broker.now().value() + for_ms;
    while (broker.now().value() < until) step(step_ms);
  }
  void take_over() {
    for (int i = 0; i < 1'000; ++i) {
      if (!worker.tasks().empty() && worker.tasks().front()->phase() == Phase::kRunning) return;
      step(1);
    }
    FAIL() << "it never runs";
  }
  [[nodiscard]] Log& log_of(const std::string& topic) {
    return broker.log({*broker.topic("app." + topic), Partition(0)});
  }
  void request(std::uint64_t sequence) {
    log_of("requests")
        .append(simulation::kNoProducer, {"book", "{}", {{"reseq-seq", std::to_string(sequence)}}, broker.now()});
  }
  // Payloads of what was committed.
  [[nodiscard]] std::vector<std::string> in(const std::string& topic) {
    std::vector<std::string> found;
    Offset next{0};
    while (const simulation::Entry* entry = log_of(topic).next_committed(next)) {
      found.push_back(entry->record->payload.value_or(""));
      next = Offset(entry->offset.value() + 1);
    }
    return found;
  }

  Worker worker{application, *kafka, clock, shelf, [] { return HashKey{}; }};
};

// Takes each piece of work, and answers it after some time.
class SlowPipeline {
 public:
  SlowPipeline(const Log& work, Log& commands, std::int64_t takes_ms)
      : work_(work), commands_(commands), takes_ms_(takes_ms) {}

  void step(UnixMs now) {
    while (const simulation::Entry* entry = work_.next_committed(next_)) {
      next_ = Offset(entry->offset.value() + 1);
      StoredRecord result = *entry->record;
      result.headers.push_back({"reseq-command", "sequence"});
      result.headers.push_back({"reseq-target", "search"});
      result.timestamp = UnixMs(now.value() + takes_ms_);
      waiting_.push_back(std::move(result));
    }
    for (; !waiting_.empty() && waiting_.front().timestamp <= now; waiting_.pop_front())
      commands_.append(simulation::kNoProducer, std::move(waiting_.front()));
  }

 private:
  const Log& work_;
  Log& commands_;
  std::int64_t takes_ms_;
  Offset next_{0};
  std::deque<StoredRecord> waiting_;  // each with the time at which it is written
};

// Each of its results is outdated when it comes.
TEST_F(Defaults, ReleaseADocumentThatChangesFasterThanThePipelineWorks) {
  constexpr std::int64_t kStepMs = 10;
  constexpr std::int64_t kChangesEveryMs = 50;
  constexpr std::int64_t kTakesMs = 1'000;
  take_over();
  SlowPipeline pipeline(log_of("work"), log_of("commands"), kTakesMs);
  const std::int64_t start = broker.now().value();
  std::uint64_t sequence = 0;
  while (in("output.search").empty() && broker.now().value() < start + 70'000) {
    if ((broker.now().value() - start) % kChangesEveryMs == 0) request(++sequence);
    pipeline.step(broker.now());
    step(kStepMs);
  }
  EXPECT_FALSE(in("output.search").empty()) << "it has changed " << sequence << " times, and no target got any of it";
  EXPECT_GT(log_of("commands").high_watermark(), Offset(500)) << "the pipeline answered, and too little was stopped";
}

TEST_F(Defaults, TellOfAResultThatIsLostAndNotOfOneThatTakesItsTime) {
  take_over();
  request(1);
  run(10 * kMinuteMs, 1'000);
  ASSERT_EQ(in("work").size(), 1U);
  EXPECT_EQ(in("events").size(), 0U) << "a slow pipeline is taken for one that loses results";
  run(kHourMs - 9 * kMinuteMs, 1'000);
  const std::vector<std::string> events = in("events");
  ASSERT_EQ(events.size(), 1U) << "nobody hears of it";
  EXPECT_THAT(events.front(), HasSubstr("\"kind\":\"overdue\",\"id\":\"book\""));
  EXPECT_THAT(events.front(), HasSubstr("\"targets\":[\"search\"]"));
  EXPECT_EQ(worker.totals().timers, 1U) << "the alarm of the log counts these";
}

}  // namespace
}  // namespace reseq::runtime
