// cut_at_character: the beginning of a text that is kept where not all of it is.
// Thread rule: pure function.
#pragma once

#include <cstddef>
#include <string_view>

namespace reseq {

// At most so many bytes, and no character of UTF-8 cut through; of what is no UTF-8 all of them but three at most.
[[nodiscard]] inline std::string_view cut_at_character(std::string_view text, std::size_t bytes_max) {
  constexpr std::size_t kFollowingMax = 3;  // bytes of a character behind its first one
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  const auto follows = [&] { return (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U; };
  while (end > 0 && bytes_max - end < kFollowingMax && follows()) --end;
  return text.substr(0, end);
}

}  // namespace reseq
