#include "codec/keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "row_generators.h"

namespace reseq::codec {
namespace {

RC_GTEST_PROP(Key, SurvivesParsing, ()) {
  const std::string id = any_id();
  const auto parsed = parse_key(document_key(id));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->type == KeyType::kDocument);
  RC_ASSERT(parsed->hashed == key_is_hashed(id));
  RC_ASSERT(parsed->name == (parsed->hashed ? id.substr(0, kHashedPrefixBytes) : id));
}

RC_GTEST_PROP(Key, KeepsTheOrderOfIds, ()) {
  // Few letters, so that prefixes and NULs meet often.
  const auto letters = rc::gen::container<std::string>(rc::gen::element('\0', '\x01', 'a', '\xFF'));
  std::string a = *letters;
  std::string b = *letters;
  a.resize(std::max<std::size_t>(1, std::min<std::size_t>(a.size(), 200)), 'x');
  b.resize(std::max<std::size_t>(1, std::min<std::size_t>(b.size(), 200)), 'x');
  RC_ASSERT((document_key(a) <=> document_key(b)) == (a <=> b));
}

RC_GTEST_PROP(Key, LeavesRoomForSubsOfLaterRows, ()) {
  const std::string key = document_key(any_id());
  RC_ASSERT(key.size() >= 6U);
  RC_ASSERT(key.size() + kSubReserve <= kMaxKeyBytes);
}

RC_GTEST_PROP(Key, OfRandomBytesIsReadOnlyWhenItIsOne, ()) {
  std::string bytes = any_bytes(0, 40);
  if (bytes.size() >= 3 && any<bool>()) bytes.replace(0, 3, std::string("D\0\0", 3));
  const auto parsed = parse_key(bytes);
  if (parsed && parsed->type == KeyType::kDocument) RC_ASSERT(document_key(parsed->name) == bytes);
}

TEST(Key, IsHashedOnlyWhenTheRawOneIsTooLong) {
  EXPECT_FALSE(key_is_hashed(std::string(442, 'x')));
  EXPECT_TRUE(key_is_hashed(std::string(443, 'x')));
  EXPECT_FALSE(key_is_hashed(std::string(221, '\0')));
  EXPECT_TRUE(key_is_hashed(std::string(222, '\0')));
  EXPECT_EQ(document_key(std::string(442, 'x')).size(), kMaxKeyBytes - kSubReserve);
}

TEST(Key, OfTwoLongIdsWithTheSameBeginningDiffers) {
  EXPECT_NE(document_key(std::string(600, 'x')), document_key(std::string(601, 'x')));
}

TEST(Key, OfEachSingleRowHasItsType) {
  EXPECT_EQ(parse_key(meta_key())->type, KeyType::kMeta);
  EXPECT_EQ(parse_key(target_table_key())->type, KeyType::kTargets);
  EXPECT_EQ(parse_key(identity_key())->type, KeyType::kIdentity);
}

RC_GTEST_PROP(Key, OfWhatAGateHasSurvivesParsing, ()) {
  const auto gate = any<std::uint8_t>();
  const std::string rank = any_bytes(kMinRankBytes, one_in(4) ? kMaxRankBytes : 20);
  const auto expect = [&](const std::string& key, KeyType type) {
    const auto parsed = parse_key(key);
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(parsed->type == type);
    RC_ASSERT(!parsed->hashed);
    RC_ASSERT(parsed->name == rank);
    RC_ASSERT(static_cast<std::uint8_t>(key[2]) == gate);
    RC_ASSERT(key.size() >= 6U);
    RC_ASSERT(key.size() <= kMaxKeyBytes);
    std::string of_another_realm = key;
    of_another_realm[1] = static_cast<char>(1 + below(255));
    RC_ASSERT(!parse_key(of_another_realm).has_value());
  };
  const std::string held = held_key(gate, rank);
  const auto number = static_cast<std::uint32_t>(1 + below(UINT32_MAX));
  expect(held, KeyType::kHeld);
  expect(piece_key(held, number), KeyType::kPiece);
  expect(task_key(gate, rank), KeyType::kTask);
  // Which piece it is: pieces are in order, and those of another rank have other keys.
  const auto other = static_cast<std::uint32_t>(1 + below(UINT32_MAX));
  RC_ASSERT((piece_key(held, number) <=> piece_key(held, other)) == (number <=> other));
  RC_ASSERT(held_key(gate, rank + "x") != held);
  RC_ASSERT(piece_key(held_key(gate, rank + "x"), number) != piece_key(held, number));
}

RC_GTEST_PROP(Key, OfAGateKeepsTheOrderOfRanks, ()) {
  const std::string a = any_bytes(kMinRankBytes, 6);
  const std::string b = any_bytes(kMinRankBytes, 6);
  RC_ASSERT((held_key(5, a) <=> held_key(5, b)) == (a <=> b));
  RC_ASSERT((task_key(5, a) <=> task_key(5, b)) == (a <=> b));
}

TEST(Key, OfAGateWithARankOutsideItsLimitsIsNone) {
  using namespace std::string_literals;
  for (const char type : {'H', 'X'}) {
    const std::string head = type + "\0\7"s;
    EXPECT_FALSE(parse_key(head)) << type;
    EXPECT_FALSE(parse_key(head + "ab")) << type;
    EXPECT_TRUE(parse_key(head + "abc")) << type;
    EXPECT_TRUE(parse_key(head + std::string(kMaxRankBytes, 'r'))) << type;
    EXPECT_FALSE(parse_key(head + std::string(kMaxRankBytes + 1, 'r'))) << type;
    EXPECT_FALSE(parse_key(type + "\1\7abc"s)) << "another realm";
  }
  const std::string head = "P\0\7"s;
  const std::string number = "\0\0\0\1"s;
  EXPECT_FALSE(parse_key(head));
  EXPECT_FALSE(parse_key(head + number));
  EXPECT_FALSE(parse_key(head + "ab" + number));
  EXPECT_TRUE(parse_key(head + "abc" + number));
  EXPECT_FALSE(parse_key(head + "abc\0\0\0\0"s)) << "pieces count from 1";
  EXPECT_TRUE(parse_key(head + "abc\1\0\0\0"s));
  EXPECT_TRUE(parse_key(head + std::string(kMaxRankBytes, 'r') + number));
  EXPECT_FALSE(parse_key(head + std::string(kMaxRankBytes + 1, 'r') + number));
  EXPECT_FALSE(parse_key("P\1\7abc"s + number)) << "another realm";
}

TEST(KeyDeathTest, OfAGateIsNotMadeOfARankOutsideItsLimits) {
  EXPECT_DEATH((void)held_key(1, "ab"), "limits");
  EXPECT_DEATH((void)task_key(1, std::string(kMaxRankBytes + 1, 'r')), "limits");
}

TEST(Key, OfReservedTypesAndBrokenOnesIsNone) {
  using namespace std::string_literals;
  for (const char type : {'Q', 'G', 'C', 'd', 'h', '\0'}) EXPECT_FALSE(parse_key(type + "\0\0id\0\0"s)) << type;
  EXPECT_FALSE(parse_key("M\0\0partitions\0\0"s));
  EXPECT_FALSE(parse_key("M\0\0partition\0\0x"s));
  EXPECT_FALSE(parse_key("D\1\0id\0\0"s));  // another realm
  EXPECT_FALSE(parse_key("D\0\2id\0\0"s));  // another tag
  EXPECT_FALSE(parse_key("D\0\0id\0"s));    // no terminator
  EXPECT_FALSE(parse_key("D\0\0id"s));
  EXPECT_FALSE(parse_key("D\0\0\0\0"s));                                // no id
  EXPECT_FALSE(parse_key("D\0\0i\0d\0\0"s));                            // a NUL that is not escaped
  EXPECT_FALSE(parse_key("D\0\0id\0\0x"s));                             // something behind it
  EXPECT_FALSE(parse_key("D\0\1id\0\0"s + std::string(16, 'h')));       // hashed, but a short prefix
  EXPECT_FALSE(parse_key("D\0\0"s + std::string(443, 'x') + "\0\0"s));  // raw, but to be hashed
  EXPECT_FALSE(parse_key("D\0\1"s + std::string(128, 'x') + "\0\0"s + "hash"));
}

}  // namespace
}  // namespace reseq::codec
