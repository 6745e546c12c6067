// How orders stand in the rows of documents.
//
//   order      := head u8 | [epoch varint] | sequence bytes | [revision varint]
//   head       := 64 epoch is not 0     128 revision is not 0
//                 + 0 .. 32: so many bytes of sequence, or
//                 + 33 .. 40: a sequence of 8 bytes of which the first 1 .. 8 are 0 and not written
// Thread rule: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "model/order.h"

namespace reseq::codec {

inline constexpr std::uint8_t kHasEpoch = 64;
inline constexpr std::uint8_t kHasRevision = 128;
inline constexpr std::uint8_t kSizeMask = 63;
inline constexpr std::size_t kStrippedSequenceBytes = 8;  // sequences of this length lose their leading zeros

void write_order(const Order& order, ByteWriter& out);
[[nodiscard]] Order read_order(ByteReader& in);
inline void skip_varint(ByteReader& in) {
  while ((in.u8() & 0x80U) != 0) {
  }
}

// Past an order that was read once. Inline, as the other: each row that is kept is asked for its timer.
[[gnu::always_inline]] inline void skip_order(ByteReader& in) {
  const std::uint8_t head = in.u8();
  if ((head & kHasEpoch) != 0) skip_varint(in);
  const std::size_t size = head & kSizeMask;
  const bool stripped = size > Sequence::kMaxBytes;
  in.require(size <= Sequence::kMaxBytes + kStrippedSequenceBytes);
  if (in.ok()) (void)in.raw(stripped ? Sequence::kMaxBytes + kStrippedSequenceBytes - size : size);
  if ((head & kHasRevision) != 0) skip_varint(in);
}

}  // namespace reseq::codec
