// Where a log ends: last stable offset, high watermark, end of log with control records. What a restore relies on.
#include <algorithm>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <thread>

#include "tests/component/rig.h"
#include "tests/recovery/kafka_tools.h"

namespace reseq::kafka {
namespace {

// A tool of Kafka starts a machine of its own for it.
constexpr Milliseconds kUntilMade{60'000};

Offset ask(Result<std::vector<TopicPartitionOffset>> answer) {
  return good(std::move(answer)).at(0).offset;
}

class LogEnds : public testing::Test {
 protected:
  LogEnds() {
    const TopicPartitionOffset start{kA0, Offset(0)};
    good(reader->assign(std::span(&start, 1)));
  }

  Offset stable_end() { return ask(consumer->stable_ends(std::span(&kA0, 1), kLong)); }
  Offset high_watermark() { return ask(reader->high_watermarks(std::span(&kA0, 1), kLong)); }

  // The marker of a transaction lands some milliseconds after commit or abort came back.
  Offset stable_end_at_least(Offset wanted) {
    for (int i = 0; i < 500 && stable_end() < wanted; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return stable_end();
  }

  Rig rig{1, 1};
  std::unique_ptr<Cluster> cluster = rig.cluster();
  std::unique_ptr<Consumer> consumer = good(cluster->consumer(kA));
  std::unique_ptr<LogReader> reader = good(cluster->log_reader());
  std::unique_ptr<Producer> producer = ready_producer(*cluster);
};

TEST_F(LogEnds, AnOpenTransactionPinsTheStableEndBelowTheHighWatermark) {
  commit_records(*producer, kA0, 0, 3);
  EXPECT_EQ(stable_end_at_least(Offset(4)), Offset(4));  // 3 records and their marker
  good(producer->begin());
  produce(*producer, kA0, 3, 5);
  EXPECT_EQ(stable_end(), Offset(4));
  EXPECT_EQ(high_watermark(), Offset(9));
  EXPECT_EQ(read_to(*reader, Offset(4)), 3);
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(std::holds_alternative<Record>(good(reader->poll(kShort)))) << "a record that is not committed";
  good(producer->commit(kLong));
  EXPECT_EQ(read_to(*reader, Offset(10)), 5);
  EXPECT_EQ(stable_end(), high_watermark());
}

TEST_F(LogEnds, TheEndCountsTheMarkerOfAnAbortThatHidesItsRecords) {
  commit_records(*producer, kA0, 0, 3);
  EXPECT_EQ(read_to(*reader, Offset(4)), 3);
  good(producer->begin());
  produce(*producer, kA0, 3, 5);
  good(producer->abort(kLong));
  EXPECT_EQ(read_to(*reader, Offset(10)), 0);
  EXPECT_EQ(high_watermark(), Offset(10));
}

TEST_F(LogEnds, ACrashedProducerPinsTheStableEndUntilItsIdIsInitialisedAgain) {
  commit_records(*producer, kA0, 0, 1);
  good(producer->begin());
  produce(*producer, kA0, 1, 4);
  producer.reset();
  EXPECT_EQ(high_watermark(), Offset(6));
  EXPECT_EQ(stable_end(), Offset(2));
  const auto other = ready_producer(*rig.cluster("2"));  // another id frees nothing
  EXPECT_EQ(stable_end(), Offset(2));
  producer = ready_producer(*cluster);
  EXPECT_EQ(stable_end_at_least(Offset(7)), Offset(7));
  EXPECT_EQ(read_to(*reader, Offset(7)), 1);
}

TEST_F(LogEnds, BeginsAreTheFirstOffsets) {
  commit_records(*producer, kA0, 0, 2);
  EXPECT_EQ(ask(reader->begins(std::span(&kA0, 1), kLong)), Offset(0));
  EXPECT_EQ(ask(consumer->begins(std::span(&kA0, 1), kLong)), Offset(0));
}

TEST_F(LogEnds, AnOffsetThatIsNotInTheLogFailsItsPartitionAndIsNoReset) {
  const TopicPartitionOffset beyond{kA0, Offset(1'000)};
  good(reader->assign(std::span(&beyond, 1)));
  LogPolled polled = Nothing{};
  for (int i = 0; i < 100 && std::holds_alternative<Nothing>(polled); ++i) polled = good(reader->poll(kShort));
  const auto* failed = std::get_if<PartitionFailure>(&polled);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->where, kA0);
  EXPECT_EQ(failed->error.what_to_do, ErrorClass::kInvalid);
  EXPECT_NE(failed->error.message.find("not in the log any more"), std::string::npos) << failed->error.message;
}

// As behind the creation of a topic, when a broker answers that has not heard of it yet.
TEST_F(LogEnds, OfAPartitionThatIsJustBeingMadeAreWaitedFor) {
  const TopicPartition next{kA, Partition(1)};
  auto made = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    test::KafkaTools(rig.connection().bootstrap_servers).add_partitions(rig.topic(0), 2);
  });
  const auto end = consumer->stable_ends(std::span(&next, 1), kUntilMade);
  made.get();
  EXPECT_EQ(ask(end), Offset(0));
}

TEST_F(LogEnds, OfAPartitionThatDoesNotExistAreAnErrorInTheEnd) {
  const TopicPartition missing{kA, Partition(9)};
  const auto answer = consumer->stable_ends(std::span(&missing, 1), Milliseconds(1'000));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what_to_do, ErrorClass::kInvalid) << answer.error().message;
}

TEST_F(LogEnds, OfATopicThatDoesNotExistAreAnError) {
  const auto missing = rig.admin().stable_ends(rig.name() + ".missing", kLong);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().what_to_do, ErrorClass::kInvalid);
}

}  // namespace
}  // namespace reseq::kafka
