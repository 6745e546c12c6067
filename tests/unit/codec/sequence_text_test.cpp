#include "codec/sequence_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/timestamp_text.h"
#include "row_generators.h"

namespace reseq::codec {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

RC_GTEST_PROP(SequenceText, OfANumberKeepsItsOrder, ()) {
  const auto a = any<std::uint64_t>();
  const auto b = any<std::uint64_t>();
  const auto x = parse_sequence(SequenceKind::kU64, std::to_string(a));
  const auto y = parse_sequence(SequenceKind::kU64, std::to_string(b));
  RC_ASSERT(x && y);
  RC_ASSERT((*x <=> *y) == (a <=> b));
  RC_ASSERT(format_sequence(SequenceKind::kU64, *x) == std::to_string(a));
}

RC_GTEST_PROP(SequenceText, OfAnInstantKeepsItsOrder, ()) {
  const auto a = any<std::int64_t>();
  const auto b = any<std::int64_t>();
  const auto x = parse_sequence(SequenceKind::kTimestamp, std::to_string(a));
  const auto y = parse_sequence(SequenceKind::kTimestamp, std::to_string(b));
  RC_ASSERT(x && y);
  RC_ASSERT((*x <=> *y) == (a <=> b));
  RC_ASSERT(parse_sequence(SequenceKind::kTimestamp, format_timestamp(a)) == x);
}

RC_GTEST_PROP(SequenceText, OfEveryKindSurvivesFormatting, ()) {
  const auto kind = static_cast<SequenceKind>(below(4));
  const Sequence sequence(kind == SequenceKind::kText ? any_bytes(1, Sequence::kMaxBytes) : any_bytes(8, 8));
  RC_ASSERT(parse_sequence(kind, format_sequence(kind, sequence)) == sequence);
}

TEST(SequenceText, OfANumberIsDigitsAlone) {
  const auto bytes = [](std::string_view text) { return parse_sequence(SequenceKind::kU64, text); };
  EXPECT_EQ(bytes("258")->bytes(), std::string_view("\0\0\0\0\0\0\1\2", 8));
  EXPECT_EQ(bytes("007"), bytes("7"));
  EXPECT_TRUE(bytes("18446744073709551615"));
  for (const std::string_view text : {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "1.0", "0x1", "1e3", "x"})
    EXPECT_FALSE(bytes(text)) << text;
}

TEST(SequenceText, OfALogPositionIsTwoHexNumbers) {
  const auto bytes = [](std::string_view text) { return parse_sequence(SequenceKind::kLsn, text); };
  EXPECT_EQ(format_sequence(SequenceKind::kLsn, *bytes("16/b374d848")), "16/B374D848");
  EXPECT_EQ(format_sequence(SequenceKind::kLsn, *bytes("0/0")), "0/0");
  EXPECT_EQ(bytes("00000016/B374D848"), bytes("16/B374D848"));
  EXPECT_LT(*bytes("9/FFFFFFFF"), *bytes("A/0"));
  for (const std::string_view text : {"", "/", "1/", "/1", "1", "1/2/3", "123456789/0", "0/123456789", "g/0", "-1/0"})
    EXPECT_FALSE(bytes(text)) << text;
}

TEST(SequenceText, OfTextIsItsBytes) {
  EXPECT_EQ(parse_sequence(SequenceKind::kText, "v1")->bytes(), "v1");
  EXPECT_TRUE(parse_sequence(SequenceKind::kText, std::string(32, '\xFF')));
  EXPECT_FALSE(parse_sequence(SequenceKind::kText, ""));
  EXPECT_FALSE(parse_sequence(SequenceKind::kText, std::string(33, 'x')));
}

TEST(SequenceText, KindsHaveNames) {
  for (const auto kind : {SequenceKind::kU64, SequenceKind::kTimestamp, SequenceKind::kLsn, SequenceKind::kText})
    EXPECT_EQ(parse_sequence_kind(name_of(kind)), kind);
  EXPECT_FALSE(parse_sequence_kind("U64"));
}

TEST(TimestampText, KnowsDaysLeapYearsAndOffsets) {
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_timestamp("2000-02-29T00:00:00Z"), 951'782'400'000'000'000);
  EXPECT_EQ(parse_timestamp("2024-02-29T12:30:45.5Z"), 1'709'209'845'500'000'000);
  EXPECT_EQ(parse_timestamp("1969-12-31T23:59:59.999999999Z"), -1);
  EXPECT_EQ(parse_timestamp("1900-03-01T00:00:00z"), -2'203'891'200'000'000'000);
  EXPECT_EQ(parse_timestamp("1970-01-01t01:00:00+01:00"), 0);
  EXPECT_EQ(parse_timestamp("1969-12-31T18:30:00-05:30"), 0);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00-00:00"), 0);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.000000001+00:00"), 1);
}

TEST(TimestampText, ReachesBothEndsOfItsRange) {
  EXPECT_EQ(parse_timestamp("1677-09-21T00:12:43.145224192Z"), kLeast);
  EXPECT_EQ(parse_timestamp("2262-04-11T23:47:16.854775807Z"), kMost);
  EXPECT_FALSE(parse_timestamp("1677-09-21T00:12:43.145224191Z"));
  EXPECT_FALSE(parse_timestamp("2262-04-11T23:47:16.854775808Z"));
  EXPECT_FALSE(parse_timestamp("0000-01-01T00:00:00Z"));
  EXPECT_FALSE(parse_timestamp("9999-12-31T23:59:59Z"));
  EXPECT_EQ(format_timestamp(kLeast), "1677-09-21T00:12:43.145224192Z");
  EXPECT_EQ(format_timestamp(kMost), "2262-04-11T23:47:16.854775807Z");
}

TEST(TimestampText, RefusesWhatIsNoInstant) {
  for (const std::string_view text : {"2023-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2024-04-31T00:00:00Z",
                                      "2024-13-01T00:00:00Z",
                                      "2024-00-01T00:00:00Z",
                                      "2024-01-00T00:00:00Z",
                                      "2024-01-01T24:00:00Z",
                                      "2024-01-01T00:60:00Z",
                                      "2016-12-31T23:59:60Z",
                                      "2024-01-01T00:00:00",
                                      "2024-01-01 00:00:00Z",
                                      "2024-01-01T00:00Z",
                                      "2024-01-01T00:00:00.Z",
                                      "2024-01-01T00:00:00,5Z",
                                      "2024-01-01T00:00:00.1234567890Z",
                                      "2024-1-1T00:00:00Z",
                                      "24-01-01T00:00:00Z",
                                      "2024-01-01T00:00:00+24:00",
                                      "2024-01-01T00:00:00+01:60",
                                      "2024-01-01T00:00:00+0100",
                                      "2024-01-01T00:00:00ZZ",
                                      " 2024-01-01T00:00:00Z",
                                      "2024-01-01T00:00:00+1:00",
                                      "+2024-01-01T00:00:00Z",
                                      "2024-01-01",
                                      "20240101T000000Z",
                                      "2024-01-01T00:00:00 Z",
                                      ""})
    EXPECT_FALSE(parse_timestamp(text)) << text;
}

TEST(TimestampText, FormatsWithAsManyDigitsAsAreNeeded) {
  EXPECT_EQ(format_timestamp(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_timestamp(-1), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(format_timestamp(1'709'209'845'500'000'000), "2024-02-29T12:30:45.5Z");
}

TEST(TimestampText, KnowsEveryDayOfFourHundredYears) {
  constexpr std::int64_t kDayNs = 86'400'000'000'000;
  for (std::int64_t day = -100'000; day <= 100'000; ++day) {
    const std::string text = format_timestamp(day * kDayNs);
    ASSERT_EQ(parse_timestamp(text), day * kDayNs) << text;
  }
}

}  // namespace
}  // namespace reseq::codec
