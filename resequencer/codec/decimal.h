// Numbers in headers: decimal digits alone, no sign, no blanks; leading zeros are harmless.
// Thread rule: any thread.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/arena.h"

namespace reseq::codec {

// Empty when the text is no number or does not fit.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_decimal(std::string_view text) {
  static_assert(std::is_unsigned_v<Number>, "a sign would be accepted");
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The number as text that lives as long as the arena.
template <typename Number>
[[nodiscard]] std::string_view decimal(Number value, Arena& arena) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  return arena.copy({digits, static_cast<std::size_t>(result.ptr - digits)});
}

}  // namespace reseq::codec
