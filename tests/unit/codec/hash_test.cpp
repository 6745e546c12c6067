#include "codec/hash.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <rapidcheck/gtest.h>

#include "row_generators.h"

namespace reseq::codec {
namespace {

// org.apache.kafka.common.utils.UtilsTest
TEST(Murmur2, IsThatOfJava) {
  const auto hash = [](std::string_view key) { return static_cast<std::int32_t>(murmur2(key)); };
  EXPECT_EQ(hash("21"), -973932308);
  EXPECT_EQ(hash("foobar"), -790332482);
  EXPECT_EQ(hash("a-little-bit-long-string"), -985981536);
  EXPECT_EQ(hash("a-little-bit-longer-string"), -1486304829);
  EXPECT_EQ(hash("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"), -58897971);
  EXPECT_EQ(hash("abc"), 479470107);
}

TEST(Crc32, IsThatOfZlib) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
  EXPECT_EQ(crc32(""), 0U);
}

RC_GTEST_PROP(Partition, IsTheOneThatClientsChoose, ()) {
  const std::string key = any_bytes(1, 60);
  const auto partitions = static_cast<std::int32_t>(1 + below(2000));
  RC_ASSERT(partition_of(key, Partitioner::kMurmur2, partitions).value() ==
            rd_kafka_msg_partitioner_murmur2(nullptr, key.data(), key.size(), partitions, nullptr, nullptr));
  RC_ASSERT(partition_of(key, Partitioner::kCrc32, partitions).value() ==
            rd_kafka_msg_partitioner_consistent(nullptr, key.data(), key.size(), partitions, nullptr, nullptr));
}

RC_GTEST_PROP(Digest, IsArithmeticModTwoToThe128, ()) {
  const Digest a{any<std::uint64_t>(), any<std::uint64_t>()};
  const Digest b{any<std::uint64_t>(), any<std::uint64_t>()};
  RC_ASSERT(subtract(add(a, b), b) == a);
  RC_ASSERT(add(a, b) == add(b, a));
}

TEST(Digest, CarriesBetweenItsHalves) {
  EXPECT_EQ(add({UINT64_MAX, 1}, {1, 0}), (Digest{0, 2}));
  EXPECT_EQ(subtract({0, 2}, {1, 0}), (Digest{UINT64_MAX, 1}));
  EXPECT_EQ(add({UINT64_MAX, UINT64_MAX}, {1, 0}), (Digest{0, 0}));
}

TEST(KeyedHash, DependsOnItsKey) {
  HashKey other = test_hash_key();
  other.bytes[15] ^= 1;
  for (const std::string& id : {std::string("a"), std::string(20, 'x'), std::string(200, 'x'), std::string(4096, 'x')})
    EXPECT_NE(KeyedHash(test_hash_key())(id), KeyedHash(other)(id)) << id.size();
}

TEST(KeyedHash, OfARecordTellsKeyFromValue) {
  const KeyedHash hash(test_hash_key());
  EXPECT_NE(hash.of_record("ab", "c"), hash.of_record("a", "bc"));
  EXPECT_NE(hash.of_record("a", "b"), hash.of_record("b", "a"));
  EXPECT_NE(hash.of_record("a", ""), hash.of_record("", "a"));
}

TEST(PayloadHash, TellsOpNullAndEmptyApart) {
  EXPECT_NE(payload_hash(Op::kUpsert, std::nullopt), payload_hash(Op::kUpsert, ""));
  EXPECT_NE(payload_hash(Op::kUpsert, ""), payload_hash(Op::kDelete, ""));
  EXPECT_NE(payload_hash(Op::kDelete, std::nullopt), payload_hash(Op::kDelete, ""));
  EXPECT_NE(payload_hash(Op::kUpsert, "a"), payload_hash(Op::kUpsert, "b"));
  EXPECT_EQ(payload_hash(Op::kUpsert, "a"), payload_hash(Op::kUpsert, "a"));
}

Digest what_is_asked(Op op, std::optional<std::string_view> payload, const std::vector<Header>& headers,
                     const std::vector<std::string>& names) {
  return content_hash(KeyedHash(test_hash_key()), op, payload, headers, names);
}

TEST(ContentHash, TellsWhatIsAskedForApart) {
  std::vector<Digest> all;
  for (const Op op : {Op::kUpsert, Op::kDelete})
    for (const std::optional<std::string_view> payload : {std::optional<std::string_view>(), {""}, {"a"}, {"b"}})
      all.push_back(what_is_asked(op, payload, {}, {}));
  const std::vector<std::vector<Header>> kHeaders = {
      {}, {{"x", "1"}}, {{"x", std::nullopt}}, {{"x", ""}}, {{"x", "1y"}}};
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{{"y"}, {"xy"}, {"y", "x"}})
    all.push_back(what_is_asked(Op::kUpsert, "a", {}, names));
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{{"x"}, {"x", "y"}})
    for (const std::vector<Header>& headers : kHeaders) all.push_back(what_is_asked(Op::kUpsert, "a", headers, names));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(ContentHash, LooksAtNoOtherHeadersAndAtTheLastOfADoubledOne) {
  const std::vector<std::string> names = {"x"};
  EXPECT_EQ(what_is_asked(Op::kUpsert, "a", {{"x", "1"}}, names),
            what_is_asked(Op::kUpsert, "a", {{"x", "0"}, {"traceparent", "t"}, {"x", "1"}}, names));
  EXPECT_EQ(what_is_asked(Op::kUpsert, "a", {{"x", "1"}}, {}), what_is_asked(Op::kUpsert, "a", {}, {}));
}

TEST(ContentHash, DependsOnItsKey) {
  HashKey other = test_hash_key();
  other.bytes[15] ^= 1;
  EXPECT_NE(what_is_asked(Op::kUpsert, "a", {}, {}), content_hash(KeyedHash(other), Op::kUpsert, "a", {}, {}));
}

}  // namespace
}  // namespace reseq::codec
