// A worker that never comes back from a call ends its process, which is started anew and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sysexits.h>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Watchdog, EndsAProcessWhoseWorkerIsStuckInATransaction) {
  Shop shop("session.timeout.ms = 6000\n[[target]]\nname = \"search\"\n");
  shop.run_program("resequencer-faulty");
  // The second transaction: the first one is the birth of the partition.
  shop.start(1, {"RESEQ_FAILPOINT=transaction.send_offsets:2:hang", "RESEQ_STUCK_AFTER_MS=2000"});
  shop.request("book", "1");
  EXPECT_EQ(shop.wait_for_end(1), EX_SOFTWARE);
  EXPECT_THAT(shop.log(1), HasSubstr("stop=stuck worker=0"));
  shop.start(1);
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAre("book 1 -> search"));
  EXPECT_EQ(shop.stop(1), EX_OK);
}

}  // namespace
}  // namespace reseq::test
