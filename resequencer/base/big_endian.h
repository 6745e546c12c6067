// Numbers as bytes that compare as they do: the highest byte first.
// Thread rule: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"

namespace reseq {

// REQUIRES: an unsigned number.
template <typename Number>
void append_big_endian(Number number, std::string& out) {
  static_assert(static_cast<Number>(-1) > Number{}, "a number with a sign compares otherwise");
  char bytes[sizeof number];
  for (std::size_t i = 0; i < sizeof number; ++i) bytes[i] = static_cast<char>(number >> (8 * (sizeof number - 1 - i)));
  out.append(bytes, sizeof bytes);
}

// The first eight bytes. REQUIRES: there are so many.
[[nodiscard]] inline std::uint64_t read_big_endian(std::string_view bytes) {
  RESEQ_ASSERT(bytes.size() >= sizeof(std::uint64_t), "too short for a number");
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace reseq
