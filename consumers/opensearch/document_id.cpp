#include "consumers/opensearch/document_id.h"

#include <array>
#include <openssl/sha.h>

#include "base/assert.h"
#include "codec/json_writer.h"

namespace reseq::opensearch {
namespace {

constexpr std::string_view kEncodedPrefix = "reseq:e:";
constexpr std::string_view kHashedPrefix = "reseq:h:";

bool is_spelled_as_it_is(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         std::string_view("-_.~/").find(byte) != std::string_view::npos;
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  // One call without a context: it cannot fail.
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const unsigned char byte : digest) text += {kHexDigits[byte >> 4U], kHexDigits[byte & 15U]};
  return text;
}

}  // namespace

bool is_plain_id(std::string_view id) {
  return id.size() <= kIdBytesMax && !id.starts_with(kEncodedPrefix) && !id.starts_with(kHashedPrefix) &&
         codec::is_utf8(id);
}

std::string encoded(std::string_view id) {
  std::string text;
  text.reserve(id.size());
  for (const char byte : id) {
    const auto number = static_cast<unsigned char>(byte);
    if (is_spelled_as_it_is(byte))
      text += byte;
    else
      text += {'%', kHexDigits[number >> 4U], kHexDigits[number & 15U]};
  }
  return text;
}

std::string substitute_id(std::string_view id) {
  RESEQ_ASSERT(!is_plain_id(id), "an id that needs no substitute");
  std::string text = std::string(kEncodedPrefix) + encoded(id);
  return text.size() <= kIdBytesMax ? text : std::string(kHashedPrefix) + sha256(id);
}

}  // namespace reseq::opensearch
