// The resequencer is killed in the middle of transactions; the outputs must be those of an undisturbed run.
#include <atomic>
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <thread>

#include "tests/e2e/echo_pipeline.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/e2e/source.h"
#include "tests/e2e/workload.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;
using testing::IsEmpty;

void expect_outputs(const ResequencerRun& run, const Workload& workload) {
  for (const std::string& target : kTwoTargets) {
    const auto outputs = read_outputs(run.connection(), run.topic("output." + target));
    EXPECT_GE(outputs.size(), workload.end().at(target).size());
    EXPECT_THAT(violations(outputs, workload.end().at(target)), IsEmpty()) << "target " << target;
  }
  EXPECT_THAT(read_outputs(run.connection(), run.topic("dead-letter")), IsEmpty());
}

TEST(Kill, WithOpenTransactionsLosesAndDoublesNothing) {
  const std::uint64_t seed = number_from("RESEQ_SEED", 20260101);
  const std::uint64_t documents = number_from("RESEQ_E2E_DOCUMENTS", 50'000);
  std::cout << "seed=" << seed << " documents=" << documents << std::endl;
  const Workload workload(seed, documents, 3, kTwoTargets);
  Broker& broker = Broker::shared();
  ResequencerRun run(broker.bootstrap_servers(), "kill" + std::to_string(::getpid()), kTwoTargets);
  EchoPipeline pipeline(run.connection(), run.application_id(), seed);

  auto process = run.start(1);
  const std::atomic<bool> never = false;
  std::jthread source([&] { Source(run).send(workload, 0, workload.requests().size(), milliseconds(20'000), never); });
  int kills = 0;
  int tries = 0;
  while (kills < 5 && tries < 30) {
    ++tries;
    std::this_thread::sleep_for(milliseconds(1000));
    if (!wait_until(milliseconds(20'000), [&] { return !run.open_transactions().empty(); })) break;
    process->signal(SIGKILL);
    ASSERT_EQ(process->wait(5'000), 128 + SIGKILL) << process->tail();
    if (!run.open_transactions().empty()) ++kills;  // nobody is left to end it
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

// As many partitions in each output as in the inputs: that versions rise within one of them is what is judged.
// All at once are taken over, born, killed in the middle of the load and taken over again.
TEST(Kill, OfFiveHundredPartitionsLosesAndDoublesNothing) {
  const std::uint64_t seed = number_from("RESEQ_SEED", 20260101);
  const Workload workload(seed, 3'000, 2, kTwoTargets);
  ResequencerRun run(Broker::shared().bootstrap_servers(), unique_name("many"), kTwoTargets,
                     "init.partitions = 500\ninit.output_partitions = 500\n");
  EchoPipeline pipeline(run.connection(), run.application_id(), seed);
  auto process = run.start(1);
  const std::atomic<bool> never = false;
  std::jthread source([&] { Source(run).send(workload, 0, workload.requests().size(), milliseconds(1'000), never); });
  ASSERT_TRUE(wait_until(2 * kPatience, [&] { return pipeline.results() > 500; })) << process->tail();
  process->signal(SIGKILL);
  ASSERT_EQ(process->wait(5'000), 128 + SIGKILL) << process->tail();
  process = run.start(1);
  source.join();
  const bool drained = wait_until(3 * kPatience, [&] {
    return !process->running() || !pipeline.failure().empty() ||
           (run.drained() && pipeline.idle_ms() > 3'000 && run.drained());
  });
  ASSERT_TRUE(drained && process->running()) << process->tail();
  ASSERT_EQ(pipeline.failure(), "");
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(30'000), 0) << process->tail();
  expect_outputs(run, workload);
}

}  // namespace
}  // namespace reseq::test
