// What a sink tells of its server while it has nothing to write.
#include "consumers/remote/upkeep.h"

#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "tests/unit/remote/records.h"

namespace reseq::remote {
namespace {

using std::chrono::milliseconds;
using Kind = Standing::Kind;

class AskedStore : public RemoteStore {
 public:
  std::deque<Result<bool>> there;  // one answer after the other; then: it is there
  int asked = 0;
  int tended = 0;
  int interrupts = 0;

  [[nodiscard]] std::string place() const override { return "here"; }
  Result<> prepare() override { return Done{}; }
  std::vector<Finding> check() override { return {}; }
  Result<> write(const Batch&, std::span<Answer>) override { return Done{}; }
  Result<bool> is_there() override {
    ++asked;
    if (there.empty()) return true;
    const Result<bool> answer = there.front();
    there.pop_front();
    return answer;
  }
  Result<> tend() override {
    ++tended;
    return Done{};
  }
  void interrupt() override { ++interrupts; }
};

const Error kAway{ErrorClass::kRetriable, 0, "connection refused"};

class UpkeepTest : public testing::Test {
 protected:
  void SetUp() override { tally_.good(); }
  void put_load() {
    LoadBuilder builder = builder_at(0);
    builder.add(record_of({0, "a", "1"}));
    lanes_.put(builder.take());
  }

  AskedStore store_;
  Lanes lanes_{1};
  Tally tally_;
  Upkeep upkeep_{store_, lanes_, tally_, milliseconds(1)};
};

TEST_F(UpkeepTest, TellsThatTheServerIsGoneAndBackThoughNothingIsWritten) {
  store_.there = {kAway, kAway};
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kAway);
  EXPECT_EQ(tally_.standing().words, "connection refused");
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kGood);
}

TEST_F(UpkeepTest, TellsThatSomebodyHasToMakeThePlaceAgain) {
  store_.there = {false, false};
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kRefuses);
  EXPECT_EQ(tally_.standing().words, "here is not there any more");
}

TEST_F(UpkeepTest, IsNotMisledByTheConnectionOfBeforeARestart) {
  store_.there = {kAway};
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kGood);
}

TEST_F(UpkeepTest, LeavesTheWordToWritersWhileSomethingIsWritten) {
  put_load();
  tally_.trouble({ErrorClass::kInvalid, 0, "no right to write"});
  upkeep_.ask();
  EXPECT_EQ(store_.asked, 0);
  EXPECT_EQ(tally_.standing().kind, Kind::kRefuses);
}

TEST_F(UpkeepTest, DoesNotCallGoodWhatSomebodyElseFoundBad) {
  tally_.trouble({ErrorClass::kInvalid, 0, "no right to read positions"});
  upkeep_.ask();
  EXPECT_EQ(store_.asked, 1);
  EXPECT_EQ(tally_.standing().kind, Kind::kRefuses);
}

TEST_F(UpkeepTest, IsNoTroubleWhenTheProgramEnds) {
  store_.there = {kAway, kAway};
  upkeep_.interrupt();
  upkeep_.ask();
  EXPECT_EQ(store_.interrupts, 1);
  EXPECT_EQ(tally_.standing().kind, Kind::kGood);
}

TEST_F(UpkeepTest, TendsTheStoreUntilTheLanesStop) {
  std::thread thread([this] { upkeep_.run(); });
  std::this_thread::sleep_for(milliseconds(50));
  lanes_.stop();
  thread.join();
  EXPECT_GT(store_.tended, 0);
  EXPECT_GE(store_.asked, store_.tended);
}

}  // namespace
}  // namespace reseq::remote
