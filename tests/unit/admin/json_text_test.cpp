#include "admin/json_text.h"

#include <gtest/gtest.h>

namespace reseq::admin {
namespace {

// An object whose value is so many arrays, one in the other.
std::string nested(int arrays) {
  const auto many = static_cast<std::size_t>(arrays);
  return R"({"a":)" + std::string(many, '[') + std::string(many, ']') + "}";
}

TEST(JsonText, ParsesOneObject) {
  EXPECT_EQ(parse_object(R"({"a":[1,{"b":2}]})").dump(), R"({"a":[1,{"b":2}]})");
  for (const char* other : {"", "[]", "7", "null", "{", "{} {}", R"({"a":)"})
    EXPECT_TRUE(parse_object(other).is_discarded()) << other;
}

TEST(JsonText, ParsesNothingThatIsDeeperThanAnAnswerCanBe) {
  EXPECT_FALSE(parse_object(nested(kJsonDepthMax - 1)).is_discarded());
  EXPECT_TRUE(parse_object(nested(kJsonDepthMax + 1)).is_discarded());
  EXPECT_TRUE(parse_object(nested(500'000)).is_discarded());
  EXPECT_TRUE(parse_object(std::string(1'000'000, '[')).is_discarded());
}

TEST(JsonText, IsWrittenInAsciiWhateverStringsHold) {
  EXPECT_EQ(indented(Json{{"a", "\xff\x1b\xc3\xa4"}}), "{\n  \"a\": \"\\ufffd\\u001b\\u00e4\"\n}\n");
}

}  // namespace
}  // namespace reseq::admin
