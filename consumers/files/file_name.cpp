#include "consumers/files/file_name.h"

#include "base/assert.h"
#include "codec/hash.h"

namespace reseq::files {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kHeadMax = 100;  // bytes of the text that a long name begins with

bool is_plain(std::string_view id, std::size_t at) {
  const char byte = id[at];
  if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '_') return true;
  // Neither "." nor "..", nothing hidden, and no dot at an end, where some disks drop it.
  return byte == '.' && at > 0 && at + 1 < id.size() && id[at - 1] != '.';
}

// Whole characters of the text, until it would pass `limit`.
std::string text_of(std::string_view id, std::size_t limit) {
  std::string text;
  for (std::size_t at = 0; at < id.size(); ++at) {
    const bool plain = is_plain(id, at);
    if (text.size() + (plain ? 1 : 3) > limit) break;
    if (plain) {
      text += id[at];
    } else {
      const auto byte = static_cast<unsigned char>(id[at]);
      text += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return text;
}

std::size_t text_size(std::string_view id) {
  std::size_t size = 0;
  for (std::size_t at = 0; at < id.size(); ++at) size += is_plain(id, at) ? 1 : 3;
  return size;
}

std::string hex(std::uint64_t number) {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += kHex[(number >> static_cast<unsigned>(shift)) & 15U];
  return digits;
}

// Without a secret: the same id has the same path in every folder.
std::string hash_of(std::string_view id) {
  static const codec::KeyedHash hash{HashKey{}};
  const Digest digest = hash(id);
  return hex(digest.high) + hex(digest.low);
}

}  // namespace

bool has_plain_name(std::string_view id) {
  return text_size(id) <= kPlainNameMax;
}

std::string file_name(std::string_view id, std::uint64_t attempt) {
  RESEQ_ASSERT(!id.empty() && attempt > 0, "an id has at least one byte, attempts count from 1");
  const std::string hash = hash_of(id);
  std::string path = hash.substr(0, 2) + "/" + hash.substr(2, 2) + "/";
  if (has_plain_name(id)) {
    RESEQ_ASSERT(attempt == 1, "the name of a short id belongs to no other");
    return path + text_of(id, kPlainNameMax);
  }
  path += text_of(id, kHeadMax) + "~" + hash;
  if (attempt > 1) path += "~" + std::to_string(attempt);
  return path;
}

}  // namespace reseq::files
