// ByteWriter: appends the primitives of the row formats (schemas/state.md) to a string.
//   u8       one byte
//   varint   LEB128: 7 bits per byte, lowest first, top bit = more follow; as short as can be; at most 64 bits
//   fixed64  8 bytes, lowest first
//   bytes    varint length, then that many bytes
//   offset   varint of offset + 1, so that "none" (-1) is one byte
// Thread rule: one thread.
#pragma once

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
    while (value >= 0x80) {
      u8(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    u8(static_cast<std::uint8_t>(value));
  }

  void fixed64(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) u8(static_cast<std::uint8_t>(value >> shift));
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
