// An `_id` is valid for the server, and stands for one id only.
#include "consumers/opensearch/document_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>

#include "codec/json_writer.h"

namespace reseq::opensearch {
namespace {

using ::testing::StartsWith;

std::string stored(std::string_view id) {
  return is_plain_id(id) ? std::string(id) : substitute_id(id);
}

// By the grammar in document_id.h alone.
std::string decoded(std::string_view text) {
  std::string id;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      id += text[at];
      continue;
    }
    id += static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16));
    at += 2;
  }
  return id;
}

TEST(DocumentId, IsTheIdItselfWhereTheServerTakesIt) {
  for (const std::string id : {"products/4711", "a%2fb", "_x", "ünïcödé", "\"quoted\"\n"}) {
    EXPECT_EQ(stored(id), id);
  }
  EXPECT_TRUE(is_plain_id(std::string("a\0b", 3)));
  EXPECT_TRUE(is_plain_id(std::string(512, 'x')));
  EXPECT_FALSE(is_plain_id(std::string(513, 'x')));
}

TEST(DocumentId, SpellsOutWhatIsNoText) {
  EXPECT_EQ(stored("\xff/a b"), "reseq:e:%ff/a%20b");
  EXPECT_EQ(stored("\xc0\x80"), "reseq:e:%c0%80");
}

TEST(DocumentId, HashesWhatIsTooLongAndNoOtherIdCanHaveThatName) {
  // SHA-256 of 513 times "x", by sha256sum.
  EXPECT_EQ(stored(std::string(513, 'x')), "reseq:h:35ade0090e64e74d6ad04204009c23a4e34b82bdf0f4f317fbcc5f26f9b10241");
  EXPECT_THAT(stored(std::string(4096, '\xff')), StartsWith("reseq:h:"));
  EXPECT_EQ(stored(std::string(4096, '\xff')).size(), 8U + 64U);
}

TEST(DocumentId, AnIdThatLooksLikeASubstituteGetsOneItself) {
  EXPECT_EQ(stored("reseq:e:%ff"), "reseq:e:reseq%3ae%3a%25ff");
  EXPECT_NE(stored("reseq:e:%ff"), stored("\xff"));
  EXPECT_FALSE(is_plain_id("reseq:h:" + std::string(64, '0')));
}

TEST(DocumentId, EveryIdHasItsOwnOneAndTheFieldGivesItBack) {
  std::mt19937 random(4711);
  std::set<std::string> ids;
  std::set<std::string> names;
  for (int i = 0; i < 20'000; ++i) {
    std::string id(1 + random() % (i % 50 == 0 ? 1'000 : 6), '\0');
    for (char& byte : id) byte = random() % 3 == 0 ? static_cast<char>(random() & 0xFFU) : "%/:aer"[random() % 6];
    ids.insert(id);
    const std::string name = stored(id);
    names.insert(name);
    ASSERT_LE(name.size(), kIdBytesMax);
    ASSERT_TRUE(codec::is_utf8(name));
    ASSERT_EQ(decoded(encoded(id)), id);
  }
  EXPECT_EQ(names.size(), ids.size());
}

}  // namespace
}  // namespace reseq::opensearch
