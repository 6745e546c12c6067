#include "codec/row_order.h"

#include <array>
#include <cstring>
#include <string_view>

namespace reseq::codec {
namespace {

std::size_t leading_zeros(std::string_view sequence) {
  const std::size_t first = sequence.find_first_not_of('\0');
  return first == std::string_view::npos ? sequence.size() : first;
}

Sequence read_sequence(std::size_t size, ByteReader& in) {
  in.require(size <= Sequence::kMaxBytes + kStrippedSequenceBytes);
  if (!in.ok()) return {};
  if (size <= Sequence::kMaxBytes) {
    const std::string_view bytes = in.raw(size);
    in.require(size != kStrippedSequenceBytes || leading_zeros(bytes) == 0);
    return bytes.empty() ? Sequence() : Sequence(bytes);
  }
  const std::size_t zeros = size - Sequence::kMaxBytes;
  const std::string_view rest = in.raw(kStrippedSequenceBytes - zeros);
  in.require(leading_zeros(rest) == 0 || rest.empty());
  std::array<char, kStrippedSequenceBytes> bytes{};
  if (!rest.empty()) std::memcpy(bytes.data() + zeros, rest.data(), rest.size());
  return Sequence({bytes.data(), bytes.size()});
}

}  // namespace

void write_order(const Order& order, ByteWriter& out) {
  std::string_view sequence = order.sequence.bytes();
  std::size_t size = sequence.size();
  if (const std::size_t zeros = size == kStrippedSequenceBytes ? leading_zeros(sequence) : 0; zeros > 0) {
    size = Sequence::kMaxBytes + zeros;
    sequence.remove_prefix(zeros);
  }
  const bool epoch = order.epoch.value() != 0;
  const bool revision = order.revision.value() != 0;
  out.u8(static_cast<std::uint8_t>(size | (epoch ? kHasEpoch : 0U) | (revision ? kHasRevision : 0U)));
  if (epoch) out.varint(order.epoch.value());
  out.raw(sequence);
  if (revision) out.varint(order.revision.value());
}

Order read_order(ByteReader& in) {
  const std::uint8_t head = in.u8();
  Order order;
  if ((head & kHasEpoch) != 0) {
    order.epoch = Epoch(in.varint32());
    in.require(order.epoch.value() != 0);
  }
  order.sequence = read_sequence(head & kSizeMask, in);
  if ((head & kHasRevision) != 0) {
    order.revision = Revision(in.varint());
    in.require(order.revision.value() != 0);
  }
  return order;
}

}  // namespace reseq::codec
