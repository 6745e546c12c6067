// ByteWriter: appends the primitives of the row formats (schemas/state.md) to a string.
//   u8       one byte
//   varint   LEB128: 7 bits per byte, lowest first, top bit = more follow; as short as can be; at most 64 bits
//   fixed64  8 bytes, lowest first
//   bytes    varint length, then that many bytes
//   offset   varint of offset + 1, so that "none" (-1) is one byte
// Thread rule: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "model/ids.h"

namespace reseq::codec {

class ByteWriter {
 public:
  // REQUIRES: out outlives the writer.
  explicit ByteWriter(std::string& out) : out_(out) {}

  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }

  void varint(std::uint64_t value) {
    if (value < 0x80) return u8(static_cast<std::uint8_t>(value));
    std::array<char, 10> bytes;  // NOLINT(cppcoreguidelines-pro-member-init): what is used is written before
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>(value | 0x80);
    bytes[size++] = static_cast<char>(value);
    out_.append(bytes.data(), size);
  }

  void fixed64(std::uint64_t value) {
    std::array<char, 8> bytes;  // NOLINT(cppcoreguidelines-pro-member-init): the same
    for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    out_.append(bytes.data(), bytes.size());
  }

  // As they are, without a length.
  void raw(std::string_view bytes) { out_.append(bytes); }

  void bytes(std::string_view bytes) {
    varint(bytes.size());
    raw(bytes);
  }

  void offset(Offset value) {
    RESEQ_ASSERT(value >= kNoOffset, "an offset below none");
    varint(static_cast<std::uint64_t>(value.value()) + 1);
  }

  // A time below 1970 costs ten bytes and comes back as it was.
  void time(UnixMs value) { varint(static_cast<std::uint64_t>(value.value())); }

 private:
  std::string& out_;
};

}  // namespace reseq::codec
