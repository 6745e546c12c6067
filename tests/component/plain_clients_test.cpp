// The clients of producers and consumers: partitions as Java chooses them, groups that commit, readers without a group.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "kafka/group_consumer.h"
#include "kafka/plain_producer.h"
#include "tests/component/rig.h"

namespace reseq::kafka {
namespace {

using Bytes = std::optional<std::string_view>;

std::vector<std::string> read_payloads(GroupConsumer& consumer, std::size_t count) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 200 && payloads.size() < count; ++i) {
    const auto record = good(consumer.poll(kShort));
    if (record) payloads.emplace_back(record->payload.value_or("null"));
  }
  return payloads;
}

bool at_ends(const GroupConsumer& consumer, const std::vector<PlainOffset>& ends) {
  const auto positions = consumer.positions();
  return std::all_of(ends.begin(), ends.end(), [&](const PlainOffset& end) {
    return std::any_of(positions.begin(), positions.end(), [&](const PlainOffset& one) {
      return one.topic == end.topic && one.partition == end.partition && one.offset >= end.offset;
    });
  });
}

class PlainClients : public testing::Test {
 protected:
  std::unique_ptr<GroupConsumer> join(RebalanceCallback callback = {}) {
    return good(GroupConsumer::join(
        rig.connection(), {.group_id = rig.name(), .topics = {rig.topic(0)}, .session_timeout = Milliseconds(6'000)},
        callback));
  }

  Rig rig{1, 7};
  std::unique_ptr<PlainProducer> producer = good(PlainProducer::open(rig.connection()));
};

// Hashes of these keys in Kafka's own client (Utils.murmur2).
TEST_F(PlainClients, KeysChooseThePartitionThatJavaChooses) {
  const std::map<std::string, std::int32_t> hashes = {{"21", -973932308},
                                                      {"foobar", -790332482},
                                                      {"a-little-bit-long-string", -985981536},
                                                      {"a-little-bit-longer-string", -1486304829},
                                                      {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
                                                      {"abc", 479470107}};
  for (const auto& [key, hash] : hashes) good(producer->send(rig.topic(0), key, "", {}));
  good(producer->flush(kLong));
  const auto transactional = ready_producer(*rig.cluster());
  good(transactional->begin());
  for (const auto& [key, hash] : hashes) good(transactional->produce({.topic = kA, .key = key, .payload = ""}));
  good(transactional->commit(kLong));

  const auto reader = good(GroupConsumer::open(rig.connection()));
  good(reader->assign_all(rig.topic(0), {}, kLong));
  std::size_t seen = 0;
  for (int i = 0; i < 200 && seen < 2 * hashes.size(); ++i) {
    const auto record = good(reader->poll(kShort));
    if (!record) continue;
    ++seen;
    const std::string key(*record->key);
    EXPECT_EQ(record->partition.value(), (hashes.at(key) & 0x7fffffff) % 7) << key;
  }
  EXPECT_EQ(seen, 2 * hashes.size());
}

// CRC-32 of these keys (zlib), as librdkafka's own partitioner takes it.
TEST_F(PlainClients, KeysChooseThePartitionThatLibrdkafkaChoosesIfAsked) {
  const std::map<std::string, std::uint32_t> hashes = {
      {"21", 0xfd7746b4}, {"foobar", 0x9ef61f95}, {"abc", 0x352441c2}, {"book-1", 0xb9af762f}};
  const auto crc32 = good(PlainProducer::open(rig.connection(), {.partitioner = "consistent_random"}));
  for (const auto& [key, hash] : hashes) good(crc32->send(rig.topic(0), key, "", {}));
  good(crc32->flush(kLong));
  const auto reader = good(GroupConsumer::open(rig.connection()));
  good(reader->assign_all(rig.topic(0), {}, kLong));
  std::size_t seen = 0;
  for (int i = 0; i < 200 && seen < hashes.size(); ++i) {
    const auto record = good(reader->poll(kShort));
    if (!record) continue;
    ++seen;
    const std::string key(*record->key);
    EXPECT_EQ(static_cast<std::uint32_t>(record->partition.value()), hashes.at(key) % 7) << key;
  }
  EXPECT_EQ(seen, hashes.size());
}

TEST_F(PlainClients, ARecordArrivesAsItWasSent) {
  const std::vector<Header> headers = {{"a", "1"}, {"null", std::nullopt}, {"empty", ""}, {"a", "2"}};
  good(producer->send(rig.topic(0), "key", std::nullopt, headers, UnixMs(77), Partition(5)));
  good(producer->flush(kLong));
  EXPECT_EQ(producer->delivered(), 1U);
  const auto reader = good(GroupConsumer::open(rig.connection()));
  good(reader->assign_all(rig.topic(0), {}, kLong));
  std::optional<PlainRecord> record;
  for (int i = 0; i < 100 && !record; ++i) record = good(reader->poll(kShort));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->topic, rig.topic(0));
  EXPECT_EQ(record->partition, Partition(5));
  EXPECT_EQ(record->offset, Offset(0));
  EXPECT_EQ(record->timestamp, UnixMs(77));
  EXPECT_EQ(record->key, Bytes("key"));
  EXPECT_EQ(record->payload, Bytes());
  ASSERT_EQ(record->headers.size(), 4U);
  EXPECT_EQ(record->headers[0].value, Bytes("1"));
  EXPECT_EQ(record->headers[1].value, Bytes());
  EXPECT_EQ(record->headers[2].value, Bytes(""));
  EXPECT_EQ(record->headers[3].value, Bytes("2"));
}

TEST_F(PlainClients, AGroupGoesOnWhereItCommitted) {
  for (int i = 0; i < 6; ++i) good(producer->send(rig.topic(0), {}, std::to_string(i), {}, {}, Partition(3)));
  good(producer->flush(kLong));
  EXPECT_EQ(good(rig.admin().lag(rig.name(), rig.topic(0), kLong)), 6);
  std::vector<Rebalance::Kind> events;
  {
    const auto consumer = join([&](const Rebalance& event) { events.push_back(event.kind); });
    EXPECT_EQ(read_payloads(*consumer, 4), (std::vector<std::string>{"0", "1", "2", "3"}));
    const PlainOffset next{rig.topic(0), Partition(3), Offset(4)};
    good(consumer->commit(std::span(&next, 1)));
  }
  EXPECT_EQ(events, (std::vector{Rebalance::Kind::kAssigned, Rebalance::Kind::kRevoked}));
  EXPECT_EQ(good(rig.admin().committed(rig.name(), rig.topic(0), kLong)).at(3).offset, Offset(4));
  EXPECT_EQ(good(rig.admin().committed(rig.name(), rig.topic(0), kLong)).at(2).offset, kNoOffset);
  EXPECT_EQ(good(rig.admin().lag(rig.name(), rig.topic(0), kLong)), 2);
  const auto consumer = join();
  EXPECT_EQ(read_payloads(*consumer, 2), (std::vector<std::string>{"4", "5"}));
}

TEST_F(PlainClients, WorkCanBeCommittedWhileItsPartitionsAreTakenAway) {
  good(producer->send(rig.topic(0), {}, "x", {}, {}, Partition(3)));
  good(producer->flush(kLong));
  GroupConsumer* raw = nullptr;
  Result<> committed = Error{};
  const auto consumer = join([&](const Rebalance& event) {
    const PlainOffset next{rig.topic(0), Partition(3), Offset(1)};
    if (event.kind == Rebalance::Kind::kRevoked) committed = raw->commit(std::span(&next, 1));
  });
  raw = consumer.get();
  EXPECT_EQ(read_payloads(*consumer, 1).size(), 1U);
  consumer->close(kLong);
  EXPECT_TRUE(committed);
  EXPECT_EQ(good(rig.admin().committed(rig.name(), rig.topic(0), kLong)).at(3).offset, Offset(1));
}

TEST_F(PlainClients, TwoMembersShareThePartitions) {
  std::map<int, std::vector<PlainOffset>> of;
  const auto note = [&](int member) {
    return [&of, member](const Rebalance& event) {
      of[member] = event.kind == Rebalance::Kind::kAssigned ? event.partitions : std::vector<PlainOffset>{};
    };
  };
  const auto first = join(note(1));
  (void)good(first->poll(Milliseconds(2'000)));
  const auto second = join(note(2));
  for (int i = 0; i < 200 && (of[2].empty() || of[1].size() + of[2].size() != 7); ++i) {
    (void)good(first->poll(Milliseconds(50)));
    (void)good(second->poll(Milliseconds(50)));
  }
  EXPECT_EQ(of[1].size() + of[2].size(), 7U);
  EXPECT_GE(of[2].size(), 3U);
}

TEST_F(PlainClients, PositionsReachTheStableEndOverControlRecords) {
  const auto transactional = ready_producer(*rig.cluster());
  commit_records(*transactional, kA0, 0, 3);
  const auto reader = good(GroupConsumer::open(rig.connection()));
  good(reader->assign_all(rig.topic(0), {}, kLong));
  EXPECT_EQ(read_payloads(*reader, 3).size(), 3U);
  const auto ends = good(rig.admin().stable_ends(rig.topic(0), kLong));
  for (int i = 0; i < 100 && !at_ends(*reader, ends); ++i) (void)good(reader->poll(kShort));
  EXPECT_TRUE(at_ends(*reader, ends));
  const PlainOffset from{rig.topic(0), Partition(0), Offset(2)};
  good(reader->assign_all(rig.topic(0), std::span(&from, 1), kLong));
  EXPECT_EQ(read_payloads(*reader, 1), (std::vector<std::string>{"2"}));
}

TEST_F(PlainClients, AReadUncommittedReaderSeesOpenTransactions) {
  const auto transactional = ready_producer(*rig.cluster());
  good(transactional->begin());
  produce(*transactional, kA0, 0, 2);
  const auto reader = good(GroupConsumer::open(rig.connection(), Isolation::kReadUncommitted));
  good(reader->assign_all(rig.topic(0), {}, kLong));
  EXPECT_EQ(read_payloads(*reader, 2).size(), 2U);
  good(transactional->abort(kLong));
}

TEST_F(PlainClients, ATooLargeRecordIsRefusedAndNothingElseHappens) {
  const std::string huge(21 * 1024 * 1024, 'x');
  const auto refused = producer->send(rig.topic(0), "k", huge, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kInvalid);
  good(producer->send(rig.topic(0), "k", "small", {}));
  good(producer->flush(kLong));
}

TEST_F(PlainClients, AFullQueueAsksToTryAgain) {
  const auto small = good(PlainProducer::open(
      rig.connection(), {.queue_messages_max = 3, .linger = Milliseconds(500), .queue_wait = Milliseconds(0)}));
  Result<> sent = Done{};
  for (int i = 0; i < 10 && sent; ++i) sent = small->send(rig.topic(0), "k", "v", {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().what_to_do, ErrorClass::kRetriable);
  good(small->flush(kLong));
  EXPECT_TRUE(small->send(rig.topic(0), "k", "v", {}));
  good(small->flush(kLong));
}

TEST_F(PlainClients, ARecordThatCannotBeDeliveredFailsTheFlushForGood) {
  const auto lost = good(PlainProducer::open(rig.connection(), {.delivery_timeout = Milliseconds(500)}));
  good(lost->send(rig.topic(0), "k", "v", {}, {}, Partition(1)));
  good(lost->flush(kLong));
  const TopicSpec narrow{.name = rig.name() + ".narrow", .partitions = 1, .configs = {{"max.message.bytes", "1000"}}};
  good(rig.admin().create_topics(std::span(&narrow, 1), kLong));
  good(lost->send(narrow.name, "k", std::string(5'000, 'x'), {}));
  const auto flushed = lost->flush(kLong);
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().what_to_do, ErrorClass::kInvalid) << flushed.error().message;
  EXPECT_EQ(lost->failed(), 1U);
  EXPECT_FALSE(lost->send(rig.topic(0), "k", "v", {}));
  EXPECT_FALSE(lost->flush(kLong));
}

TEST_F(PlainClients, TopicsAreCreatedOnceAndTheirPartitionCountIsChecked) {
  TopicSpec spec{.name = rig.name() + ".made", .partitions = 3};
  good(rig.admin().create_topics(std::span(&spec, 1), kLong));
  good(rig.admin().create_topics(std::span(&spec, 1), kLong));
  EXPECT_EQ(good(rig.admin().partition_count(spec.name, kLong)), 3);
  spec.partitions = 4;
  const auto other = rig.admin().create_topics(std::span(&spec, 1), kLong);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().what_to_do, ErrorClass::kInvalid);
  good(rig.admin().delete_topics(std::span(&spec.name, 1), kLong));
  EXPECT_FALSE(rig.admin().partition_count(spec.name, kLong));
}

}  // namespace
}  // namespace reseq::kafka
