// How orders stand in the rows of documents.
//
//   order      := head u8 | [epoch varint] | sequence bytes | [revision varint]
//   head       := 64 epoch is not 0     128 revision is not 0
//                 + 0 .. 32: so many bytes of sequence, or
//                 + 33 .. 40: a sequence of 8 bytes of which the first 1 .. 8 are 0 and not written
// Thread rule: pure functions.
#pragma once

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "model/order.h"

namespace reseq::codec {

void write_order(const Order& order, ByteWriter& out);
[[nodiscard]] Order read_order(ByteReader& in);
// Past an order that was read once.
void skip_order(ByteReader& in);
inline void skip_varint(ByteReader& in) {
  while ((in.u8() & 0x80U) != 0) {
  }
}

}  // namespace reseq::codec
