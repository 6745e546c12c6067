// Topics that were there before the application.
#include <csignal>
#include <gtest/gtest.h>
#include <sysexits.h>
#include <thread>

#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

constexpr int kOldRecords = 50;

class FirstStart : public testing::Test {
 protected:
  // Old records without a sequence, then the first start, then a request that has one. Dead letters in the end.
  std::size_t dead_letters_when(const std::string& first_start) {
    EXPECT_EQ(shop.run({"init"}).code, EX_OK);
    for (int i = 0; i < kOldRecords; ++i) shop.send("requests", "old-" + std::to_string(i), {});
    shop.keys = "first_start = \"" + first_start + "\"\n";
    const auto process = shop.start_and_wait();
    shop.send("requests", "new", {{"reseq-seq", "1"}});
    EXPECT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return records_in("work") == 1; }))
        << process->tail();
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
    return records_in("dead-letter");
  }

  std::size_t records_in(const std::string& role) {
    std::size_t records = 0;
    read_all(shop.connection(), shop.topic(role), [&](const kafka::PlainRecord&) { ++records; });
    return records;
  }

  Operator shop{Broker::shared().bootstrap_servers()};
};

TEST_F(FirstStart, ReadsWhatIsThereAlready) {
  EXPECT_EQ(dead_letters_when("begin"), static_cast<std::size_t>(kOldRecords));
}

TEST_F(FirstStart, AtTheEndLeavesItAlone) {
  EXPECT_EQ(dead_letters_when("end"), 0U);
}

// The last process of a group gets all partitions, and finds out then that it cannot open their files.
TEST_F(FirstStart, SaysThatTooFewFilesMayBeOpenForAllPartitions) {
  EXPECT_EQ(shop.run({"init"}).code, EX_OK);
  shop.in_front = {"prlimit", "--nofile=310"};
  const std::string told = "at most 310 files may be open, which carries 2 of 4 partitions";
  EXPECT_NE(shop.run({"check"}).text.find(told), std::string::npos);
  const auto process = shop.start_and_wait();
  EXPECT_NE(shop.log().find("start=open_files " + ('"' + told)), std::string::npos) << shop.log();
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
}

// A broker that hears late of what `init` has made is no reason to end.
TEST_F(FirstStart, WaitsForTopicsThatAreNotKnownYet) {
  EXPECT_EQ(shop.run({"init"}).code, EX_OK);
  shop.keys = "topic.work = \"" + shop.topic("late") + "\"\n";
  const auto process = shop.start();
  EXPECT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] {
    return shop.log().find("start=waiting error=\"no broker knows these topics yet: " + shop.topic("late") + "\"") !=
           std::string::npos;
  })) << process->tail();
  std::this_thread::sleep_for(std::chrono::milliseconds(2'500));  // it has asked again meanwhile
  EXPECT_EQ(shop.log().find("start=waiting"), shop.log().rfind("start=waiting")) << shop.log();
  shop.create_topic("late", 1);
  EXPECT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs),
                         [&] { return shop.log().find("takeover=born") != std::string::npos || !process->running(); }));
  EXPECT_TRUE(process->running()) << process->tail();
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
}

}  // namespace
}  // namespace reseq::test
