// A gate in front of `work` on a real broker: processes that hold requests are killed, and everything leaves once, as
// it came. A version without the gate keeps its hands off.
#include "tests/support/broker.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sysexits.h>
#include <thread>

#include "codec/header_names.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/echo_pipeline.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/source.h"
#include "tests/gate/window_gate.h"
#include "tests/judge/judge.h"
#include "tests/recovery/kafka_tools.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kPartitions = 4;
constexpr std::size_t kBody = std::size_t{16} << 20U;
const std::vector<std::string> kGated = {"RESEQ_GATE=700:2:100:4:500000"};

// Bodies at the borders of what a row takes, and larger ones that are held by reference.
const std::vector<std::size_t> kBodies = {0, 1, 3'900, 4'080, 4'096, 100'000, 1'000'000, kBody};

std::string body_of(std::size_t bytes) {
  std::string body(bytes, 'a');
  for (std::size_t i = 0; i < bytes; i += 1'000) body[i] = static_cast<char>('b' + i / 1'000 % 20);
  return body;
}

class Asked final : public judge::Specification {
 public:
  explicit Asked(const Workload& workload) {
    for (const WorkloadRequest& request : workload.requests()) requests_[{request.id, request.sequence}] = &request;
    for (const std::size_t bytes : kBodies) bodies_.emplace("body/" + std::to_string(bytes), body_of(bytes));
  }
  [[nodiscard]] std::optional<judge::Asked> asked(const judge::Record& record) const override {
    judge::Asked asked;
    asked.id = record.key.value_or("");
    asked.sequence = judge::number_of(record, codec::header::kSeq);
    if (const auto body = bodies_.find(asked.id); body != bodies_.end()) {
      asked.payload = body->second;
      return asked;
    }
    const auto found = requests_.find({asked.id, asked.sequence});
    if (found == requests_.end()) return std::nullopt;
    asked.removal = found->second->removal;
    if (!found->second->targets.empty()) asked.targets = found->second->targets;
    if (!asked.removal) asked.payload = found->second->payload();
    return asked;
  }
  [[nodiscard]] bool excused(const judge::Piece&) const override { return false; }

 private:
  std::map<std::pair<std::string, std::uint64_t>, const WorkloadRequest*> requests_;
  std::map<std::string, std::string> bodies_;
};

class GateOnABroker : public testing::Test {
 protected:
  GateOnABroker() { run_.run_program("resequencer-faulty"); }

  // Each twice, so that one of them has an offset that the gate holds.
  void send_bodies() {
    auto producer = good(kafka::PlainProducer::open(run_.connection()));
    for (const std::size_t bytes : kBodies)
      for (const std::string sequence : {"1", "2"}) {
        const std::vector<Header> headers = {{"reseq-seq", sequence}};
        good(producer->send(run_.topic("requests"), "body/" + std::to_string(bytes), body_of(bytes), headers));
      }
    good(producer->flush(Milliseconds(60'000)));
  }

  void wait_until_idle(const std::vector<Process*>& processes, EchoPipeline& pipeline) {
    const bool idle = wait_until(3 * kPatience, [&] {
      const bool ended = std::any_of(processes.begin(), processes.end(), [](Process* one) { return !one->running(); });
      return ended || !pipeline.failure().empty() || (run_.drained() && pipeline.idle_ms() > 4'000 && run_.drained());
    });
    ASSERT_TRUE(idle) << "it does not become idle";
    ASSERT_EQ(pipeline.failure(), "");
    for (Process* one : processes) ASSERT_TRUE(one->running()) << one->tail();
  }

  [[nodiscard]] judge::Judgement judged(const std::vector<int>& instances) {
    judge::Case which;
    which.settings.application_id = run_.application_id();
    which.settings.bootstrap_servers = run_.connection().bootstrap_servers;
    for (const std::string& name : kTwoTargets) which.settings.targets.emplace_back().name = name;
    which.settings.events = "all";
    which.gate = &gate_;
    for (const int instance : instances) which.instance_folders.push_back(run_.state_folder(instance));
    which.scratch_folder = scratch_.path() + "/copies";
    auto judged = judge::judge(which, Asked(workload_));
    EXPECT_TRUE(judged) << judged.error().message;
    return judged ? judged.value() : judge::Judgement();
  }

  const gate::WindowGate gate_{{.window = Milliseconds(700),
                                .every = 2,
                                .drained_max = 100,
                                .partitions = kPartitions,
                                .reference_above = 500'000}};
  const Workload workload_{11, 6'000, 2, kTwoTargets};
  ResequencerRun run_{Broker::shared().bootstrap_servers(), unique_name("gate"), kTwoTargets,
                      "init.max_message_bytes = 18000000\nevents = \"all\"\n"};
  TempDir scratch_;
};

TEST_F(GateOnABroker, LosesAndDoublesNothingWhoeverIsKilled) {
  EchoPipeline pipeline(run_.connection(), run_.application_id(), 11);
  std::vector<std::unique_ptr<Process>> processes;
  for (const int instance : {1, 2}) processes.push_back(run_.start(instance, kGated));
  const std::atomic<bool> never = false;
  std::jthread source(
      [&] { Source(run_).send(workload_, 0, workload_.requests().size(), milliseconds(12'000), never); });
  for (int kill = 0; kill < 5; ++kill) {
    std::this_thread::sleep_for(milliseconds(2'000));
    auto& victim = processes[static_cast<std::size_t>(kill % 2)];
    victim->signal(SIGKILL);
    ASSERT_EQ(victim->wait(5'000), 128 + SIGKILL) << victim->tail();
    victim = run_.start(1 + kill % 2, kGated);
    if (kill == 2) send_bodies();
  }
  source.join();
  wait_until_idle({processes[0].get(), processes[1].get()}, pipeline);
  for (auto& process : processes) {
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(30'000), 0) << process->tail();
  }

  for (const std::string& target : kTwoTargets) {
    std::map<std::string, std::string> bodies;
    std::vector<Released> outputs = read_outputs(run_.connection(), run_.topic("output." + target));
    for (const Released& one : outputs)
      if (one.id.starts_with("body/")) bodies[one.id] = one.payload;
    for (const std::size_t bytes : kBodies)
      EXPECT_TRUE(bodies["body/" + std::to_string(bytes)] == body_of(bytes)) << bytes << " bytes for " << target;
    std::erase_if(outputs, [](const Released& one) { return one.id.starts_with("body/"); });
    EXPECT_THAT(violations(outputs, workload_.end().at(target)), IsEmpty()) << target;
  }
  EXPECT_THAT(read_outputs(run_.connection(), run_.topic("dead-letter")), IsEmpty());
  const judge::Judgement right = judged({1, 2});
  EXPECT_THAT(right.lines, IsEmpty());
  EXPECT_GE(right.copies, static_cast<std::uint64_t>(kPartitions));
}

// A process that held it is gone for longer than `requests` keeps it.
TEST_F(GateOnABroker, TellsOfWhatRetentionTookWhileItWaited) {
  const std::vector<std::string> gated = {"RESEQ_GATE=3000:1:100:4:1"};
  auto producer = good(kafka::PlainProducer::open(run_.connection()));
  const auto left = [&](const std::string& id) {
    bool found = false;
    read_all(run_.connection(), run_.topic("work"),
             [&](const kafka::PlainRecord& record) { found = found || record.key == id; });
    return found;
  };
  std::string id;
  bool held = false;
  for (int attempt = 0; attempt < 10 && !held; ++attempt) {  // unless its time came before the kill
    id = "gone/" + std::to_string(attempt);
    auto process = run_.start(1, gated);
    good(producer->send(run_.topic("requests"), id, "body", std::vector<Header>{{"reseq-seq", "1"}}));
    good(producer->flush(Milliseconds(60'000)));
    ASSERT_TRUE(wait_until(kPatience, [&] { return run_.drained(); })) << process->tail();
    process->signal(SIGKILL);
    ASSERT_EQ(process->wait(5'000), 128 + SIGKILL);
    held = !left(id);
  }
  ASSERT_TRUE(held);
  std::vector<DeletedRecords> all;
  for (int partition = 0; partition < kPartitions; ++partition) all.push_back({run_.topic("requests"), partition});
  KafkaTools(run_.connection().bootstrap_servers).delete_records(all);
  auto process = run_.start(1, gated);
  std::vector<Released> letters;
  ASSERT_TRUE(wait_until(kPatience, [&] {
    letters = read_outputs(run_.connection(), run_.topic("dead-letter"));
    return !letters.empty();
  })) << process->tail();
  EXPECT_EQ(letters.size(), 1U);
  EXPECT_EQ(letters.front().id, id);
  EXPECT_THAT(process->tail(), HasSubstr("alarm=body_gone records=1"));
  EXPECT_FALSE(left(id));
}

TEST_F(GateOnABroker, KeepsAStateFromAVersionThatDoesNotKnowIt) {
  auto gated = run_.start(1, {"RESEQ_GATE=1000000000:1:100:4:500000"});
  send_bodies();
  ASSERT_TRUE(wait_until(kPatience, [&] { return !gated->running() || run_.drained(); }));
  ASSERT_TRUE(gated->running()) << gated->tail();
  gated->signal(SIGTERM);
  ASSERT_EQ(gated->wait(30'000), 0) << gated->tail();

  run_.run_program("resequencer");
  auto older = run_.start(1);
  EXPECT_EQ(older->wait(60'000), EX_CONFIG) << older->tail();
  EXPECT_THAT(older->tail(), HasSubstr("capability 63"));
}

}  // namespace
}  // namespace reseq::test
