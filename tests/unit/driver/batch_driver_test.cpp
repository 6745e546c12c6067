#include "driver/batch_driver.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/unit/engine/map_state.h"

namespace reseq::driver {
namespace {

using engine::kCatalogue;
using engine::kSearch;
using engine::request;
using engine::result;
using engine::Taken;
using engine::targets;

class BatchDriverTest : public testing::Test {
 protected:
  BatchDriverTest() { context_.registration_timeout = Milliseconds(100); }

  // A document that waits for both of its targets since 1000, overdue from 1100 on.
  void requested(const std::string& id) {
    BatchDriver driver(state_, state_.partition, context_);
    ASSERT_EQ(driver.decide(request(id, 1), Offset(0), true), Taken::kDecided);
    driver.close();
    state_.commit(driver.batch());
  }

  engine::MapState state_;
  engine::Context context_ = engine::two_targets();
};

TEST_F(BatchDriverTest, FiresWhatIsDueBehindTheInputs) {
  requested("waits");
  requested("ends");
  context_.now = UnixMs(2000);
  const std::vector<std::string> due = {"waits", "ends", "gone"};
  BatchDriver driver(state_, state_.partition, context_);
  ASSERT_EQ(driver.decide(result("ends", 1, kSearch), Offset(1), true), Taken::kDecided);
  ASSERT_EQ(driver.decide(result("ends", 1, kCatalogue), Offset(2), true), Taken::kDecided);
  driver.close({.overdue = due});
  EXPECT_EQ(driver.became_overdue(), 1U);
  ASSERT_EQ(driver.batch().events().size(), 1U);
  EXPECT_EQ(driver.batch().events().front().id, "waits");
}

TEST_F(BatchDriverTest, DecidesNothingBehindAnInputThatWaitsForRequests) {
  BatchDriver driver(state_, state_.partition, context_);
  EXPECT_TRUE(driver.takes(Role::kCommands));
  EXPECT_EQ(driver.decide(result("unknown", 1, kSearch), Offset(1), false), Taken::kRequestsFirst);
  EXPECT_FALSE(driver.takes(Role::kCommands));
  EXPECT_EQ(driver.ended_by(), Taken::kRequestsFirst);
  EXPECT_FALSE(driver.stopped());
  driver.close();
  EXPECT_TRUE(driver.batch().decisions().empty());
}

TEST_F(BatchDriverTest, StopsWhereThePolicySaysSo) {
  context_.policies.on_missing = engine::OnMissing::kStop;
  BatchDriver driver(state_, state_.partition, context_);
  EXPECT_EQ(driver.decide(Refused{Reason::kMissingId, true, "", false}, Offset(1), true), Taken::kStop);
  EXPECT_TRUE(driver.stopped());
  EXPECT_FALSE(driver.takes(Role::kControl));
}

TEST_F(BatchDriverTest, TakesOnlyOperationsOfAPausedPartition) {
  state_.partition.paused = true;
  BatchDriver driver(state_, state_.partition, context_);
  EXPECT_FALSE(driver.takes(Role::kRequests));
  EXPECT_FALSE(driver.takes(Role::kCommands));
  EXPECT_TRUE(driver.takes(Role::kControl));
}

TEST_F(BatchDriverTest, SweepsWatermarksThatNoInputOfTheBatchMadeLiveAgain) {
  context_.watermark_retention = Milliseconds(10);
  for (const std::string id : {"kept", "old"}) {
    requested(id);
    BatchDriver driver(state_, state_.partition, context_);
    ASSERT_EQ(driver.decide(result(id, 1, kSearch), Offset(1), true), Taken::kDecided);
    ASSERT_EQ(driver.decide(result(id, 1, kCatalogue), Offset(2), true), Taken::kDecided);
    driver.close();
    state_.commit(driver.batch());
  }
  context_.now = UnixMs(5000);
  const std::vector<std::string> expired = {"kept", "old"};
  BatchDriver driver(state_, state_.partition, context_);
  ASSERT_EQ(driver.decide(request("kept", 2), Offset(3), true), Taken::kDecided);
  driver.close({.expired = expired});
  state_.commit(driver.batch());
  EXPECT_TRUE(state_.rows.contains("kept"));
  EXPECT_FALSE(state_.rows.contains("old"));
}

}  // namespace
}  // namespace reseq::driver
