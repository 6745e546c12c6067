#include "codec/base64.h"

namespace reseq::codec {

std::string base64(std::string_view bytes) {
  std::string text;
  encode_base64(bytes, [&](char c) { text += c; });
  return text;
}

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  unsigned bits = 0;
  unsigned count = 0;  // of bits that are no whole byte yet
  for (const char c : text) {
    const std::size_t digit = kBase64Digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
    bits &= (1U << count) - 1;
  }
  if (bits != 0) return std::nullopt;
  return bytes;
}

}  // namespace reseq::codec
