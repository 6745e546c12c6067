// A worker that never comes back from a call ends its process, which is started anew and goes on. One that is slow
// because its disk is does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sysexits.h>

#include "tests/chaos/nemesis/host.h"
#include "tests/e2e/patience.h"
#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Watchdog, EndsAProcessWhoseWorkerIsStuckInATransaction) {
  Shop shop("session.timeout.ms = 6000\n[[target]]\nname = \"search\"\n");
  shop.run_program("resequencer-faulty");
  // The second transaction: the first one is the birth of the partition.
  shop.start(1, {"RESEQ_FAILPOINT=transaction.send_offsets:2:hang", "RESEQ_STUCK_AFTER_MS=2000"});
  shop.request("book", "1");
  EXPECT_EQ(shop.wait_for_end(1), EX_SOFTWARE);
  EXPECT_THAT(shop.log(1), HasSubstr("stop=stuck worker=0 one step does not end"));
  EXPECT_THAT(shop.log(1), ContainsRegex("stop=stuck worker=0 call=\"[^\n]*libc[^\n]*sleep")) << "what it waits for";
  shop.start(1);
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAre("book 1 -> search"));
  EXPECT_EQ(shop.stop(1), EX_OK);
}

// Some ten writes a second: each checkpoint takes longer than a step may.
TEST(Watchdog, WaitsForADiskThatIsSlowAndThePartitionCatchesUp) {
  constexpr int kDocuments = 4'000;
  Shop shop("checkpoint_rows_max = 2000\n[[target]]\nname = \"search\"\n");
  shop.run_program("resequencer-faulty");
  const ResequencerRun& application = shop.application();
  chaos::Host host(application.log_file(1) + ".host", application.state_folder(1));
  std::vector<std::string> environment = host.environment();
  environment.emplace_back("RESEQ_STUCK_AFTER_MS=5000");
  for (int i = 0; i < kDocuments; ++i) shop.request("document-" + std::to_string(i), "1");
  host.slow_disk(std::chrono::milliseconds(100));
  shop.start(1, environment);
  shop.settle();
  EXPECT_THAT(shop.work(), testing::SizeIs(kDocuments));
  const auto slow = [&] { return shop.log(1).find("checkpoint=slow") != std::string::npos; };
  EXPECT_TRUE(wait_until(std::chrono::minutes(1), slow)) << shop.log(1);
  host.slow_disk(std::chrono::milliseconds(0));
  EXPECT_EQ(shop.stop(1), EX_OK);
}

}  // namespace
}  // namespace reseq::test
