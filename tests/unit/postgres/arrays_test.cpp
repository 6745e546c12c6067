// Arrays in PostgreSQL's binary format, byte by byte.
#include "consumers/postgres/arrays.h"

#include <gtest/gtest.h>

namespace reseq::postgres {
namespace {

std::string hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

TEST(BinaryArray, OfTextsHasLengthsAndNulls) {
  ArrayWriter writer(kTextType, 3);
  writer.add("ab");
  writer.add_null();
  writer.add("");
  EXPECT_EQ(hex(writer.take()),
            "000000010000000100000019"  // one dimension, nulls, text
            "0000000300000001"          // three elements from 1
            "000000026162ffffffff00000000");
}

TEST(BinaryArray, WithoutElementsHasNoDimension) {
  EXPECT_EQ(hex(ArrayWriter(kInt8Type, 0).take()), "000000000000000100000014");
}

TEST(BinaryArray, OfNumbersReadsBack) {
  ArrayWriter writer(kInt8Type, 3);
  for (const std::int64_t number : {std::int64_t{1}, std::int64_t{-2}, INT64_MAX}) writer.add_int8(number);
  const std::string bytes = writer.take();
  EXPECT_EQ(read_int8_array(bytes), (std::vector<std::int64_t>{1, -2, INT64_MAX}));
  EXPECT_EQ(read_int8_array(ArrayWriter(kInt8Type, 0).take()), std::vector<std::int64_t>());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(read_int8_array(std::string_view(bytes).substr(0, length)), std::nullopt) << length;
}

TEST(BinaryNumbers, ReadBack) {
  EXPECT_EQ(read_int8(int8_bytes(-5)), -5);
  EXPECT_EQ(read_int8("1234567"), std::nullopt);
  EXPECT_EQ(hex(int4_bytes(258)), "00000102");
}

}  // namespace
}  // namespace reseq::postgres
