// RowFrame: what the values of all rows have in common.
//
//   value      := format u8 | body | extension* | checksum
//   format     := 1
//   extension  := tag varint | bytes     tags strictly rising; the lowest bit of a tag = must be understood
//   checksum   := 4 bytes, lowest first: the low 32 bits of XXH3_64bits(key length u32, lowest byte first | key |
//                 format | body | extensions)
//
// Nothing follows the checksum. The key is part of what is summed up, so a value under a wrong key is detected.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/rows.h"

namespace reseq::codec {

inline constexpr std::uint8_t kRowFormat = 1;
inline constexpr std::size_t kChecksumBytes = 4;

// Appends extensions and checksum to a value that starts at `begin` of `out`, and finishes it.
// REQUIRES: extensions came from read_extensions or are empty.
void seal(std::string_view key, std::string_view extensions, std::size_t begin, ByteWriter& out);

// A reader of body and extensions; failed when format or checksum is wrong.
[[nodiscard]] ByteReader open_frame(std::string_view key, std::string_view value);

// The rest of the value as it came, when it is a well-formed list of optional extensions; otherwise the reader fails.
// Those below `least` were read before: none of them is left. `understood`: one that the caller will read, although it
// is not optional.
[[nodiscard]] std::string_view read_extensions(ByteReader& reader, std::uint64_t least = 0,
                                               std::uint64_t understood = 0);

}  // namespace reseq::codec
