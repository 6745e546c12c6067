// The transactional producer: aborts, fences, headers, delivery offsets, and the facts a cluster tells.
#include <gtest/gtest.h>

#include "kafka/librdkafka_cluster.h"
#include "tests/component/rig.h"
#include "tests/support/broker.h"

namespace reseq::kafka {
namespace {

using Bytes = std::optional<std::string_view>;

class Transactions : public testing::Test {
 protected:
  // Reads topic `t` from its beginning.
  std::unique_ptr<LogReader> reader_of(TopicIndex t) {
    auto reader = good(cluster->log_reader());
    const TopicPartitionOffset start{{t, Partition(0)}, Offset(0)};
    good(reader->assign(std::span(&start, 1)));
    return reader;
  }
  static Record read(LogReader& reader) {
    for (int i = 0; i < 100; ++i) {
      auto polled = good(reader.poll(kShort));
      if (auto* record = std::get_if<Record>(&polled)) return std::move(*record);
    }
    throw std::runtime_error("no record came");
  }

  Rig rig{2, 1};
  std::unique_ptr<Cluster> cluster = rig.cluster();
};

TEST_F(Transactions, AbortRightAfterACommitIsCleanTwentyTimesOfTwenty) {
  const auto producer = ready_producer(*cluster);
  for (int i = 0; i < 20; ++i) {
    commit_records(*producer, kA0, i, 1);
    good(producer->begin());
    const std::string payload = "never seen";
    good(producer->produce({.topic = kA, .partition = Partition(0), .payload = payload}));
    good(producer->abort(kLong));
    ASSERT_FALSE(producer->in_doubt()) << i;
  }
  EXPECT_EQ(read_to(*reader_of(kA), Offset(80)), 20);  // 20 × (record, marker, aborted record, marker)
}

TEST_F(Transactions, ASecondInstanceFencesTheFirst) {
  const auto first = ready_producer(*cluster);
  good(first->begin());
  produce(*first, kA0, 0, 1);
  const auto second = ready_producer(*cluster);
  const auto committed = first->commit(kLong);
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().what_to_do, ErrorClass::kFenced) << committed.error().message;
  commit_records(*second, kA0, 1, 1);
  EXPECT_EQ(read(*reader_of(kA)).payload, Bytes("1"));
}

TEST_F(Transactions, DeliveredIsTheOffsetOfTheLastRecordOnceItWasAcknowledged) {
  const auto producer = ready_producer(*cluster);
  EXPECT_EQ(producer->delivered(kA0), std::nullopt);
  commit_records(*producer, kA0, 0, 3);
  EXPECT_EQ(producer->delivered(kA0), Offset(2));
  EXPECT_EQ(producer->delivered(kB0), std::nullopt);
  good(producer->begin());
  const std::string payload = "next";
  good(producer->produce({.topic = kA, .partition = Partition(0), .payload = payload}));
  EXPECT_EQ(producer->delivered(kA0), std::nullopt);  // on its way
  good(producer->flush(kLong));
  EXPECT_EQ(producer->delivered(kA0), Offset(4));
  good(producer->commit(kLong));
}

TEST_F(Transactions, ACommitThatTimedOutLeavesDoubtEvenWhenItSucceedsLater) {
  const auto producer = ready_producer(*cluster);
  commit_records(*producer, kA0, 0, 1);
  EXPECT_FALSE(producer->in_doubt());
  good(producer->begin());
  produce(*producer, kA0, 1, 1);
  if (!test::Broker::shared().pause()) GTEST_SKIP() << "the broker of RESEQ_BOOTSTRAP_SERVERS cannot be paused";
  const auto cut_short = producer->commit(Milliseconds(300));
  test::Broker::shared().resume();
  ASSERT_FALSE(cut_short);
  EXPECT_EQ(cut_short.error().what_to_do, ErrorClass::kTimeout) << cut_short.error().message;
  good(until_settled([&] { return producer->commit(kLong); }));
  EXPECT_TRUE(producer->in_doubt());
  EXPECT_FALSE(ready_producer(*cluster)->in_doubt());
  EXPECT_EQ(read_to(*reader_of(kA), Offset(4)), 2);
}

TEST_F(Transactions, HeadersAreTakenOverEditedAndUnknownOnesKept) {
  const auto producer = ready_producer(*cluster);
  const std::vector<HeaderEdit> original = {
      {"reseq-seq", "7"}, {"x-invented", "kept"}, {"empty", ""}, {"reseq-version", "99"}, {"traceparent", "00-1"}};
  good(producer->begin());
  good(producer->produce({.topic = kA, .key = "doc", .payload = "body", .timestamp = UnixMs(1234), .edits = original}));
  good(producer->commit(kLong));

  const auto reader = reader_of(kA);
  Record consumed = read(*reader);
  EXPECT_EQ(consumed.timestamp, UnixMs(1234));
  ASSERT_EQ(consumed.headers.size(), 5U);
  // The value of an edit may lie in a header that another edit removes.
  const std::vector<HeaderEdit> edits = {
      {"reseq-version", std::nullopt}, {"reseq-seq", "8"}, {"copied", consumed.headers[3].value}, {"absent", {}}};
  good(producer->begin());
  good(producer->produce({.topic = kB,
                          .partition = Partition(0),
                          .key = consumed.key,
                          .payload = consumed.payload,
                          .headers_from = &consumed,
                          .edits = edits}));
  good(producer->commit(kLong));

  const auto reader_of_out = reader_of(kB);
  const Record out = read(*reader_of_out);
  EXPECT_EQ(out.key, Bytes("doc"));
  EXPECT_EQ(out.payload, Bytes("body"));
  std::vector<std::string> seen;
  for (const Header& header : out.headers) seen.push_back(std::string(header.name) + "=" + std::string(*header.value));
  EXPECT_EQ(seen,
            (std::vector<std::string>{"x-invented=kept", "empty=", "traceparent=00-1", "reseq-seq=8", "copied=99"}));
}

TEST_F(Transactions, NullIsNotEmpty) {
  const auto producer = ready_producer(*cluster);
  good(producer->begin());
  good(producer->produce({.topic = kA, .partition = Partition(0), .key = Bytes(), .payload = Bytes()}));
  good(producer->produce({.topic = kA, .partition = Partition(0), .key = std::string_view(), .payload = ""}));
  good(producer->commit(kLong));
  const auto reader = reader_of(kA);
  const Record nulls = read(*reader);
  EXPECT_EQ(nulls.key, std::nullopt);
  EXPECT_EQ(nulls.payload, std::nullopt);
  const Record empties = read(*reader);
  EXPECT_EQ(empties.key, Bytes(""));
  EXPECT_EQ(empties.payload, Bytes(""));
}

TEST_F(Transactions, ARecordThatIsTooLargeIsRefusedAndTheTransactionGoesOn) {
  const auto producer = ready_producer(*cluster);
  good(producer->begin());
  const std::string huge(21 * 1024 * 1024, 'x');
  const auto refused = producer->produce({.topic = kA, .partition = Partition(0), .payload = huge});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kInvalid) << refused.error().message;
  produce(*producer, kA0, 0, 1);
  good(producer->commit(kLong));
}

TEST_F(Transactions, ADocumentOfSixteenMebibytesTravels) {
  const auto producer = ready_producer(*cluster);
  std::string large(16 * 1024 * 1024, 'x');
  large.back() = 'y';
  good(producer->begin());
  good(producer->produce({.topic = kA, .partition = Partition(0), .key = "large", .payload = large}));
  good(producer->commit(kLong));
  EXPECT_EQ(read(*reader_of(kA)).payload, Bytes(large));
}

TEST_F(Transactions, TheClusterTellsItsFacts) {
  EXPECT_FALSE(good(cluster->cluster_id(kLong)).empty());
  const auto facts = good(cluster->topic_facts(kA, kLong));
  EXPECT_EQ(facts.partitions, 1);
  EXPECT_EQ(facts.max_message_bytes, 20U * 1024 * 1024);
  EXPECT_FALSE(facts.compacts);
  EXPECT_TRUE(facts.deletes);
  const TopicSpec changelog{
      .name = rig.name() + ".log",
      .partitions = 3,
      .configs = {{"cleanup.policy", "compact"}, {"max.message.bytes", "123456"}, {"retention.ms", "7200000"}}};
  good(rig.admin().create_topics(std::span(&changelog, 1), kLong));
  auto settings = rig.settings("1");
  settings.topics = {changelog.name, rig.name() + ".missing"};
  const auto other = good(open_cluster(settings));
  const auto compacted = good(other->topic_facts(TopicIndex(0), kLong));
  EXPECT_EQ(compacted.partitions, 3);
  EXPECT_EQ(compacted.max_message_bytes, 123456U);
  EXPECT_TRUE(compacted.compacts);
  EXPECT_FALSE(compacted.deletes);
  EXPECT_EQ(compacted.retention_ms, 7'200'000);
  const auto missing = other->topic_facts(TopicIndex(1), kLong);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().what_to_do, ErrorClass::kInvalid);
}

}  // namespace
}  // namespace reseq::kafka
