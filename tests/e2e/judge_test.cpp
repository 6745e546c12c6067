// The judge of chaos runs reads a real broker and the copies of a process that was stopped: nothing is wrong, until
// something is.
#include "tests/judge/judge.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "codec/header_names.h"
#include "kafka/group_consumer.h"
#include "kafka/librdkafka_cluster.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/echo_pipeline.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/e2e/source.h"
#include "tests/e2e/workload.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::Each;
using testing::IsEmpty;
using testing::StartsWith;

constexpr Milliseconds kLimit{30'000};

class WorkloadSpecification final : public judge::Specification {
 public:
  explicit WorkloadSpecification(const Workload& workload) {
    for (const WorkloadRequest& request : workload.requests()) requests_[{request.id, request.sequence}] = &request;
  }
  [[nodiscard]] std::optional<judge::Asked> asked(const judge::Record& record) const override {
    const std::uint64_t sequence = judge::number_of(record, codec::header::kSeq);
    const auto found = requests_.find({std::string(record.key.value_or("")), sequence});
    if (found == requests_.end()) return std::nullopt;
    const WorkloadRequest& request = *found->second;
    judge::Asked asked;
    asked.id = request.id;
    asked.sequence = sequence;
    asked.removal = request.removal;
    if (!request.targets.empty()) asked.targets = request.targets;
    if (!request.removal) asked.payload = request.payload();
    return asked;
  }
  [[nodiscard]] bool excused(const judge::Piece&) const override { return false; }

 private:
  std::map<std::pair<std::string, std::uint64_t>, const WorkloadRequest*> requests_;
};

class JudgeOfABroker : public testing::Test {
 protected:
  void SetUp() override {
    EchoPipeline pipeline(run_.connection(), run_.application_id(), 1);
    auto process = run_.start(1);
    const std::atomic<bool> hurry = true;
    Source(run_).send(workload_, 0, workload_.requests().size(), milliseconds(0), hurry);
    ASSERT_TRUE(wait_until(milliseconds(120'000), [&] {
      return !process->running() || (run_.drained() && pipeline.idle_ms() > 2'000 && run_.drained());
    }));
    process->signal(SIGTERM);
    ASSERT_EQ(process->wait(30'000), 0) << process->tail();
  }

  [[nodiscard]] judge::Judgement judged() const {
    judge::Case which;
    which.settings.application_id = run_.application_id();
    which.settings.bootstrap_servers = run_.connection().bootstrap_servers;
    for (const std::string& name : kTwoTargets) which.settings.targets.emplace_back().name = name;
    which.instance_folders = {run_.state_folder(1)};
    which.scratch_folder = scratch_.path() + "/copies";
    which.patience = Milliseconds(1'000);
    auto judged = judge::judge(which, WorkloadSpecification(workload_));
    EXPECT_TRUE(judged) << judged.error().message;
    return judged ? judged.value() : judge::Judgement();
  }

  [[nodiscard]] kafka::ClusterSettings writer() const {
    kafka::ClusterSettings settings;
    settings.connection = run_.connection();
    settings.topics = {run_.topic("output.search")};
    settings.group_id = run_.application_id() + ".writer";
    settings.transactional_id = settings.group_id;
    return settings;
  }

  void move_an_offset() {
    kafka::GroupConsumerSettings settings;
    settings.group_id = run_.application_id();
    settings.topics = {run_.topic("requests")};
    auto consumer = kafka::GroupConsumer::join(run_.connection(), settings);
    ASSERT_TRUE(consumer);
    ASSERT_TRUE(wait_until(milliseconds(60'000), [&] {
      (void)consumer.value()->poll(Milliseconds(100));
      return !consumer.value()->positions().empty();
    }));
    const kafka::PlainOffset moved{settings.topics.front(), Partition(0), Offset(1)};
    const auto committed = consumer.value()->commit({&moved, 1});
    ASSERT_TRUE(committed) << committed.error().message;
  }

  Workload workload_{7, 2'000, 3, kTwoTargets};
  ResequencerRun run_{Broker::shared().bootstrap_servers(), unique_name("judged"), kTwoTargets};
  TempDir scratch_;
};

TEST_F(JudgeOfABroker, FindsNothingWrongUntilSomethingIs) {
  const judge::Judgement right = judged();
  EXPECT_THAT(right.lines, IsEmpty());
  EXPECT_GT(right.records, 2 * workload_.requests().size());
  EXPECT_EQ(right.copies, 4U);

  move_an_offset();
  const judge::Judgement moved = judged();
  EXPECT_EQ(moved.violations, 1U);
  EXPECT_THAT(moved.lines, Each(StartsWith("offsets: partition 0")));

  const auto cluster = kafka::open_cluster(writer());
  ASSERT_TRUE(cluster);
  const auto producer = cluster.value()->producer();
  ASSERT_TRUE(producer);
  const auto write = [&](bool commit) {
    kafka::OutgoingRecord record;
    record.partition = Partition(0);
    record.key = "document/1";
    ASSERT_TRUE(producer.value()->begin());
    ASSERT_TRUE(producer.value()->produce(record));
    ASSERT_TRUE(producer.value()->flush(kLimit));
    if (commit) {
      ASSERT_TRUE(producer.value()->commit(kLimit));
    }
  };
  ASSERT_TRUE(producer.value()->init(kLimit));
  write(true);
  EXPECT_THAT(judged().lines, Contains(StartsWith("produced: no batch sent")));
  write(false);
  EXPECT_THAT(judged().lines, Contains(StartsWith("stable: " + run_.topic("output.search") + "[0]")));
  EXPECT_TRUE(producer.value()->abort(kLimit));
}

}  // namespace
}  // namespace reseq::test
