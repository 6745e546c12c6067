// Base64 (RFC 4648, section 4), with padding: bytes that are no text on their way through JSON.
// Thread rule: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reseq::codec {

inline constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Calls `append` with each character in turn.
template <typename Append>
void encode_base64(std::string_view bytes, const Append& append) {
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) append(k <= group.size() ? kBase64Digits[(bits >> (18 - 6 * k)) & 63U] : '=');
  }
}
[[nodiscard]] std::string base64(std::string_view bytes);

// Empty when the text is not the base64 of anything: a wrong length, a foreign character, bits that mean nothing.
[[nodiscard]] std::optional<std::string> parse_base64(std::string_view text);

}  // namespace reseq::codec
