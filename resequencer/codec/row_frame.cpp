#include "codec/row_frame.h"

#include <cstring>
#define XXH_INLINE_ALL  // rows are short: a call costs as much as the hash
#include <xxhash.h>

namespace reseq::codec {
namespace {

std::uint32_t checksum(std::string_view key, std::string_view value) {
  constexpr std::size_t kCopiedMax = 512;
  char length[4];
  for (unsigned i = 0; i < sizeof length; ++i) length[i] = static_cast<char>(key.size() >> (8 * i));
  const std::size_t head = sizeof length + key.size();
  // One contiguous input: for rows of some fifty bytes a copy costs less than xxHash's streaming state.
  if (head + value.size() <= kCopiedMax) {
    char input[kCopiedMax];
    std::memcpy(input, length, sizeof length);
    if (!key.empty()) std::memcpy(input + sizeof length, key.data(), key.size());
    if (!value.empty()) std::memcpy(input + head, value.data(), value.size());
    return static_cast<std::uint32_t>(XXH3_64bits(input, head + value.size()));
  }
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, length, sizeof length);
  XXH3_64bits_update(&state, key.data(), key.size());
  XXH3_64bits_update(&state, value.data(), value.size());
  return static_cast<std::uint32_t>(XXH3_64bits_digest(&state));
}

}  // namespace

std::string_view name_of(RowError error) {
  switch (error) {
    case RowError::kTruncated:
      return "truncated";
    case RowError::kBadChecksum:
      return "bad checksum";
    case RowError::kUnknownFormat:
      return "written by a newer version";
    case RowError::kUnknownMandatory:
      return "carries an extension that this version does not know and must understand";
    case RowError::kInvalid:
      return "breaks an invariant";
  }
  return "unknown";
}

void seal(std::string_view key, std::string_view extensions, std::size_t begin, ByteWriter& out) {
  out.raw(extensions);
  const std::uint32_t sum = checksum(key, out.written(begin));
  for (unsigned i = 0; i < kChecksumBytes; ++i) out.u8(static_cast<std::uint8_t>(sum >> (8 * i)));
  out.finish();
}

ByteReader open_frame(std::string_view key, std::string_view value) {
  ByteReader reader(value);
  if (value.size() < 1 + kChecksumBytes) {
    reader.fail(RowError::kTruncated);
    return reader;
  }
  // Before the checksum: a later format may sum up in another way.
  if (reader.u8() != kRowFormat) {
    reader.fail(RowError::kUnknownFormat);
    return reader;
  }
  const std::string_view content = value.substr(0, value.size() - kChecksumBytes);
  const std::uint32_t sum = checksum(key, content);
  for (unsigned i = 0; i < kChecksumBytes; ++i)
    if (static_cast<std::uint8_t>(value[content.size() + i]) != static_cast<std::uint8_t>(sum >> (8 * i)))
      reader.fail(RowError::kBadChecksum);
  if (!reader.ok()) return reader;
  return ByteReader(content.substr(1));
}

bool is_intact(std::string_view key, std::string_view value) {
  return open_frame(key, value).ok();
}

std::string_view read_extensions(ByteReader& reader, std::uint64_t least, std::uint64_t understood) {
  const std::string_view all = reader.rest();
  while (!reader.rest().empty()) {
    const std::uint64_t tag = reader.varint();
    (void)reader.bytes();
    if (reader.ok() && (tag & 1U) != 0 && tag != understood) reader.fail(RowError::kUnknownMandatory);
    reader.require(tag >= least);
    least = tag + 1;
  }
  return reader.ok() ? all : std::string_view();
}

}  // namespace reseq::codec
