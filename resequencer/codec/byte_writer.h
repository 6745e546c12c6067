// ByteWriter: appends the primitives of the row formats (schemas/state.md) to a string.
//   u8       one byte
//   varint   LEB128: 7 bits per byte, lowest first, top bit = more follow; as short as can be; at most 64 bits
//   fixed64  8 bytes, lowest first
//   bytes    varint length, then that many bytes
//   offset   varint of offset + 1, so that "none" (-1) is one byte
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "model/ids.h"

namespace reseq::codec {

// Bytes that a number and what has its length in front take.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
}
[[nodiscard]] constexpr std::size_t bytes_size(std::string_view bytes) {
  return varint_size(bytes.size()) + bytes.size();
}

class ByteWriter {
 public:
  // REQUIRES: nobody else uses `out` until finish(): it is longer than what was written, so that most writes need no
  // call.
  explicit ByteWriter(std::string& out) : out_(out) { grow_from(out.size(), kPiece); }
  ~ByteWriter() { RESEQ_ASSERT(at_ == end_, "a writer that was not finished"); }
  ByteWriter(const ByteWriter&) = delete;
  ByteWriter& operator=(const ByteWriter&) = delete;

  // `out` is what was written, and no longer the writer's.
  void finish() {
    out_.resize(used());
    end_ = at_;
  }

  // What stands in `out` from there on. REQUIRES: no more than there is; it lives until the next write.
  [[nodiscard]] std::string_view written(std::size_t from) const { return {out_.data() + from, used() - from}; }

  void u8(std::uint8_t value) {
    want(1);
    *at_++ = static_cast<char>(value);
  }

  void varint(std::uint64_t value) {
    want(10);
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }

  void fixed64(std::uint64_t value) {
    want(8);
    for (unsigned i = 0; i < 8; ++i) *at_++ = static_cast<char>(value >> (8 * i));
  }

  // As they are, without a length.
  void raw(std::string_view bytes) {
    want(bytes.size());
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }

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
  static constexpr std::size_t kPiece = 128;  // more than most rows have

  [[nodiscard]] std::size_t used() const { return static_cast<std::size_t>(at_ - out_.data()); }
  void want(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes) grow_from(used(), std::max(bytes, kPiece));
  }
  void grow_from(std::size_t used, std::size_t bytes);

  std::string& out_;
  char* at_ = nullptr;   // the next byte
  char* end_ = nullptr;  // behind the last one that `out` has
};

}  // namespace reseq::codec
