// What a sink tells of its server while it has nothing to write.
#include "consumers/remote/upkeep.h"

#include <atomic>
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
  std::deque<Error> errors;  // one after the other; then: it is there
  std::atomic<int> asked = 0;
  std::atomic<int> tended = 0;
  int interrupts = 0;

  [[nodiscard]] std::string place() const override { return "here"; }
  Result<> prepare() override { return Done{}; }
  std::vector<Finding> check() override { return {}; }
  Result<> write(const Batch&, std::span<Answer>) override { return Done{}; }
  Result<> ask() override {
    ++asked;
    if (errors.empty()) return Done{};
    const Error error = errors.front();
    errors.pop_front();
    return error;
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
  std::atomic<bool> begins_reading_ = false;
  Tally tally_;
  Upkeep upkeep_{store_, lanes_, begins_reading_, tally_, milliseconds(1)};
};

TEST_F(UpkeepTest, TellsThatTheServerIsGoneAndBackThoughNothingIsWritten) {
  store_.errors = {kAway, kAway};
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kAway);
  EXPECT_EQ(tally_.standing().words, "connection refused");
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kGood);
}

TEST_F(UpkeepTest, TellsThatSomebodyHasToMakeThePlaceAgain) {
  store_.errors = {{ErrorClass::kInvalid, 0, "no such table"}};
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kRefuses);
  EXPECT_EQ(tally_.standing().words, "no such table");
}

TEST_F(UpkeepTest, DoesNotWaitTwiceForAServerThatHangs) {
  store_.errors = {{ErrorClass::kTimeout, 0, "no answer in 75 s"}};
  upkeep_.ask();
  EXPECT_EQ(store_.asked, 1);
  EXPECT_EQ(tally_.standing().kind, Kind::kAway);
}

TEST_F(UpkeepTest, TellsThatAServerIsBackOfWhichAWriterHadToldThatLostItsPartition) {
  tally_.trouble(kAway);
  upkeep_.ask();
  EXPECT_EQ(tally_.standing().kind, Kind::kGood);
}

TEST_F(UpkeepTest, IsNotMisledByTheConnectionOfBeforeARestart) {
  store_.errors = {kAway};
  upkeep_.ask();
  EXPECT_EQ(store_.asked, 2);
  EXPECT_EQ(tally_.standing().kind, Kind::kGood);
}

TEST_F(UpkeepTest, LeavesTheWordToWritersWhileSomethingIsWritten) {
  put_load();
  tally_.trouble({ErrorClass::kInvalid, 0, "no right to write"});
  upkeep_.ask();
  EXPECT_EQ(store_.asked, 0);
  EXPECT_EQ(tally_.standing().kind, Kind::kRefuses);
}

TEST_F(UpkeepTest, LeavesTheWordToTheReaderWhileItAsksWhereToBegin) {
  begins_reading_ = true;
  tally_.trouble({ErrorClass::kInvalid, 0, "no right to read positions"});
  upkeep_.ask();
  EXPECT_EQ(store_.asked, 0);
  EXPECT_EQ(tally_.standing().kind, Kind::kRefuses);
}

TEST_F(UpkeepTest, IsNoTroubleWhenTheProgramEnds) {
  store_.errors = {kAway, kAway};
  upkeep_.interrupt();
  upkeep_.ask();
  EXPECT_EQ(store_.interrupts, 1);
  EXPECT_EQ(tally_.standing().kind, Kind::kGood);
}

TEST_F(UpkeepTest, TendsTheStoreUntilTheLanesStop) {
  std::thread thread([this] { upkeep_.run(); });
  const auto until = Clock::now() + std::chrono::seconds(60);
  while (store_.tended < 3 && Clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  lanes_.stop();
  thread.join();
  EXPECT_GE(store_.tended, 3);
  EXPECT_GE(store_.asked, store_.tended);
}

}  // namespace
}  // namespace reseq::remote
