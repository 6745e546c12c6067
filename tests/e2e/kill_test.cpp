// The resequencer is killed in the middle of transactions; the outputs must be those of an undisturbed run.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <thread>

#include "kafka/plain_producer.h"
#include "tests/e2e/echo_pipeline.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/e2e/workload.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;
using testing::IsEmpty;

const std::vector<std::string> kTargets = {"search", "catalogue"};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::stoull(value);
}

// Sends the workload evenly over `spread`, so that there is always something going on to kill.
void send_requests(const ResequencerRun& run, const Workload& workload, milliseconds spread) {
  auto producer = kafka::PlainProducer::open(run.connection());
  ASSERT_TRUE(producer.ok()) << producer.error().message;
  const auto start = std::chrono::steady_clock::now();
  const std::size_t total = workload.requests().size();
  for (std::size_t i = 0; i < total; ++i) {
    const WorkloadRequest& request = workload.requests()[i];
    const std::string sequence = std::to_string(request.sequence);
    const std::string payload = request.payload();
    std::vector<Header> headers = {{"reseq-seq", sequence}};
    if (!request.targets.empty()) headers.push_back({"reseq-targets", request.targets.front()});
    auto sent =
        producer.value()->send(run.topic("requests"), request.id,
                               request.removal ? std::nullopt : std::optional<std::string_view>(payload), headers);
    ASSERT_TRUE(sent.ok()) << sent.error().message;
    if (i % 256 == 0)
      std::this_thread::sleep_until(start + spread * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(total));
  }
  ASSERT_TRUE(producer.value()->flush(Milliseconds(60'000)).ok());
}

bool wait_until(milliseconds limit, const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

void expect_outputs(const ResequencerRun& run, const Workload& workload) {
  for (const std::string& target : kTargets) {
    const auto outputs = read_outputs(run.connection(), run.topic("output." + target));
    EXPECT_GE(outputs.size(), workload.end().at(target).size());
    EXPECT_THAT(violations(outputs, workload.end().at(target)), IsEmpty()) << "target " << target;
  }
  EXPECT_THAT(read_outputs(run.connection(), run.topic("dead-letter")), IsEmpty());
}

TEST(Kill, WithOpenTransactionsLosesAndDoublesNothing) {
  const std::uint64_t seed = number_from("RESEQ_SEED", 20260101);
  const std::uint64_t documents = number_from("RESEQ_E2E_DOCUMENTS", 100'000);
  std::cout << "seed=" << seed << " documents=" << documents << std::endl;
  const Workload workload(seed, documents, 3, kTargets);
  Broker& broker = Broker::shared();
  ResequencerRun run(broker.bootstrap_servers(), "kill" + std::to_string(::getpid()), kTargets);
  EchoPipeline pipeline(run.connection(), run.application_id(), seed);

  auto process = run.start(1);
  std::jthread source([&] { send_requests(run, workload, milliseconds(40'000)); });
  int kills = 0;
  int tries = 0;
  while (kills < 5 && tries < 30) {
    ++tries;
    std::this_thread::sleep_for(milliseconds(1500));
    if (!wait_until(milliseconds(20'000), [&] { return run.transaction_open(); })) break;
    process->signal(SIGKILL);
    ASSERT_EQ(process->wait(5'000), 128 + SIGKILL) << process->tail();
    if (run.transaction_open()) ++kills;  // nobody is left to end it
    process = run.start(1);
  }
  source.join();
  EXPECT_EQ(kills, 5) << "kills with an open transaction, of " << tries;

  const bool drained = wait_until(milliseconds(180'000), [&] {
    return !process->running() || !pipeline.failure().empty() ||
           (run.drained() && pipeline.idle_ms() > 3'000 && run.drained());
  });
  ASSERT_TRUE(drained && process->running()) << process->tail();
  ASSERT_EQ(pipeline.failure(), "");
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(15'000), 0) << process->tail();
  std::cout << "requests=" << workload.requests().size() << " results=" << pipeline.results()
            << " kills_with_open_transaction=" << kills << " of=" << tries << std::endl;
  expect_outputs(run, workload);
}

}  // namespace
}  // namespace reseq::test
