// Offsets that do not fit the state park their partitions; `seek` is the way on.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sysexits.h>

#include "kafka/group_consumer.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr std::chrono::milliseconds kWait{60'000};
constexpr int kDocuments = 20;

class Seeking : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(shop.run({"init"}).code, EX_OK); }

  // One request per document and its result, up to the outputs.
  void process_documents(int sequence) {
    const auto process = shop.start_and_wait();
    for (int i = 0; i < kDocuments; ++i) {
      const std::string id = "doc-" + std::to_string(i);
      const std::string seq = std::to_string(sequence);
      shop.send("requests", id, {{"reseq-seq", seq}}, seq);
      shop.send("commands", id, {{"reseq-seq", seq}, {"reseq-command", "sequence"}}, seq);
    }
    EXPECT_TRUE(wait_until(kWait, [&] { return released(sequence) == kDocuments; })) << process->tail();
    stop(*process);
  }

  static void stop(Process& process) {
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(kStepLimitMs), EX_OK) << process.tail();
  }

  int released(int sequence) {
    int count = 0;
    for (const Released& one : read_outputs(shop.connection(), shop.topic("output.search")))
      count += one.sequence == static_cast<std::uint64_t>(sequence) ? 1 : 0;
    return count;
  }

  // As `kafka-consumer-groups --reset-offsets` does. The group must be empty, so it is tried until it is.
  void commit_by_hand(std::int64_t offset) {
    EXPECT_TRUE(wait_until(kWait, [&] {
      const auto consumer = kafka::GroupConsumer::join(
          shop.connection(), {.group_id = shop.application_id(), .topics = {shop.topic("requests")}});
      if (!consumer) return false;
      std::size_t owned = 0;
      std::vector<kafka::PlainOffset> next;
      for (int i = 0; i < 100 && owned < 4; ++i) {
        (void)consumer.value()->poll(Milliseconds(100));
        owned = consumer.value()->positions().size();
      }
      for (std::int32_t p = 0; p < 4; ++p) next.push_back({shop.topic("requests"), Partition(p), Offset(offset)});
      return consumer.value()->commit(next).ok();
    }));
  }

  // Until the partitions say that they are parked.
  void expect_parked(const std::string& hint) {
    const std::size_t before = shop.log().size();
    const auto process = shop.start();
    EXPECT_TRUE(wait_until(kWait, [&] { return shop.log().find(hint, before) != std::string::npos; }))
        << process->tail();
    stop(*process);
  }

  Operator shop{Broker::shared().bootstrap_servers()};
};

TEST_F(Seeking, IsTheWayOnAfterOffsetsWereMovedByHand) {
  process_documents(1);
  EXPECT_EQ(shop.run({"check"}).code, EX_OK);
  commit_by_hand(0);
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_CONFIG) << checked.text;
  EXPECT_THAT(checked.last_line, HasSubstr("`resequencer seek` accepts the former"));
  expect_parked("`resequencer seek");

  const Ran dry = shop.run({"seek", "--requests", "committed", "--dry-run"});
  EXPECT_EQ(dry.code, EX_OK) << dry.text;
  EXPECT_THAT(dry.text, HasSubstr("would go to"));
  EXPECT_EQ(shop.run({"seek", "--requests", "committed", "--dry-run"}).text, dry.text) << "a dry run has moved it";

  const Ran done = shop.run({"seek", "--requests", "committed"});
  EXPECT_EQ(done.code, EX_OK) << done.text;
  const std::size_t before = shop.log().size();
  process_documents(2);  // and the old requests, read once more, were duplicates
  EXPECT_EQ(released(1), kDocuments);
  EXPECT_EQ(shop.log().find("recovery=rebuild", before), std::string::npos) << "copies on disk do not know the seek";
}

TEST_F(Seeking, KeepsWhereTheStateStandsWhenOffsetsWereMovedByMistake) {
  process_documents(1);
  commit_by_hand(0);
  expect_parked("`resequencer seek");
  const Ran done = shop.run({"seek", "--requests", "standing"});
  EXPECT_EQ(done.code, EX_OK) << done.text;
  process_documents(2);
}

TEST_F(Seeking, RefusesWhileAnInstanceRuns) {
  const auto process = shop.start_and_wait();
  const std::size_t before = shop.log().size();
  const Ran same = shop.run({"seek", "--requests", "begin"});
  EXPECT_EQ(same.code, EX_UNAVAILABLE) << same.text;
  EXPECT_THAT(same.last_line, HasSubstr("is in use by process " + std::to_string(process->pid())));
  shop.instance = "2";
  const Ran other = shop.run({"seek", "--requests", "begin"});
  EXPECT_EQ(other.code, EX_CONFIG) << other.text;
  EXPECT_THAT(other.last_line, HasSubstr("are running: stop all of them, then seek"));
  EXPECT_TRUE(process->running());
  EXPECT_EQ(shop.log().find("group=", before), std::string::npos) << "was disturbed";
  stop(*process);
}

TEST_F(Seeking, RefusesWhatIsNotInTheLogOrHasNoState) {
  const Ran fresh = shop.run({"seek", "--requests", "begin", "--dry-run"});
  EXPECT_EQ(fresh.code, EX_CONFIG) << fresh.text;
  EXPECT_THAT(fresh.last_line, HasSubstr("there is no state yet"));
  process_documents(1);
  const Ran far = shop.run({"seek", "--requests", "1000000", "--dry-run"});
  EXPECT_EQ(far.code, EX_CONFIG) << far.text;
  EXPECT_THAT(far.last_line, HasSubstr("is not in the log"));
  EXPECT_THAT(shop.run({"seek", "--requests", "yesterday", "--dry-run"}).last_line, HasSubstr("\"yesterday\" must be"));
  const Ran bare = shop.run({"seek"});
  EXPECT_EQ(bare.code, EX_USAGE);
  EXPECT_THAT(bare.last_line, HasSubstr("seek needs --requests"));
  EXPECT_THAT(shop.run({"seek", "--partition", "9", "--requests", "end"}).last_line, HasSubstr("no partition 9"));
}

}  // namespace
}  // namespace reseq::test
