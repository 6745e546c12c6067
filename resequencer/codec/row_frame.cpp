#include "codec/row_frame.h"

#include <boost/container/small_vector.hpp>
#include <cstring>
#define XXH_INLINE_ALL  // rows are short: a call costs as much as the hash
#include <xxhash.h>

namespace reseq::codec {
namespace {

std::uint32_t checksum(std::string_view key, std::string_view value) {
  // One contiguous input: for rows of some fifty bytes a copy costs less than xxHash's streaming state.
  boost::container::small_vector<char, 1024> input(4 + key.size() + value.size(), boost::container::default_init);
  for (unsigned i = 0; i < 4; ++i) input[i] = static_cast<char>(key.size() >> (8 * i));
  if (!key.empty()) std::memcpy(input.data() + 4, key.data(), key.size());
  if (!value.empty()) std::memcpy(input.data() + 4 + key.size(), value.data(), value.size());
  return static_cast<std::uint32_t>(XXH3_64bits(input.data(), input.size()));
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
