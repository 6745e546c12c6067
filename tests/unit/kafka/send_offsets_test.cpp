// What the producer refuses before it asks a broker.
#include <gtest/gtest.h>

#include "kafka/group_metadata.h"
#include "kafka/librdkafka_producer.h"

namespace reseq::kafka {
namespace {

const TopicPartition kWhere{TopicIndex(0), Partition(0)};

LibrdkafkaGroupMetadata group(int generation, const char* member) {
  GroupMetadataHandle handle(rd_kafka_consumer_group_metadata_new_with_genid("orders", generation, member, nullptr));
  auto membership = membership_of(*handle).value();
  return {std::move(handle), std::move(membership)};
}

class SendOffsets : public testing::Test {
 protected:
  SendOffsets() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  std::unique_ptr<Producer> producer =
      LibrdkafkaProducer::open(
          {.connection = {.bootstrap_servers = "127.0.0.1:1", .log = [](int, std::string_view, std::string_view) {}},
           .topics = {"requests"},
           .group_id = "orders",
           .transactional_id = "orders.1"})
          .value();
};

TEST_F(SendOffsets, WithAMembershipThatFencesNothingIsAnAbort) {
  const TopicPartitionOffset next{kWhere, Offset(1)};
  for (const auto& stale : {std::pair{-1, "member"}, std::pair{3, ""}}) {
    const auto sent = producer->send_offsets(std::span(&next, 1), group(stale.first, stale.second), Milliseconds(100));
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().what_to_do, ErrorClass::kAbort);
  }
}

using SendOffsetsDeathTest = SendOffsets;

TEST_F(SendOffsetsDeathTest, OfNothingIsABug) {
  EXPECT_DEATH((void)producer->send_offsets({}, group(3, "member"), Milliseconds(100)), "commits nothing");
}

TEST_F(SendOffsetsDeathTest, WithoutAnOffsetIsABug) {
  const TopicPartitionOffset invalid{kWhere, kNoOffset};
  EXPECT_DEATH((void)producer->send_offsets(std::span(&invalid, 1), group(3, "member"), Milliseconds(100)),
               "skipped without an error");
}

}  // namespace
}  // namespace reseq::kafka
