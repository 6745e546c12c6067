// Order: what decides newer, same, older between two requests of one document.
// Thread rule: plain values.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "base/strong.h"

namespace reseq {

// Raised by a producer whose counter starts again; stands in front of the sequence.
using Epoch = Strong<struct EpochTag, std::uint32_t>;

// Raised by a reprocess of the same sequence; stands behind the sequence.
using Revision = Strong<struct RevisionTag, std::uint64_t>;

// How a sequence is written on the wire; part of the pinned identity. Numbers are written into the state.
enum class SequenceKind : std::uint8_t { kU64 = 0, kTimestamp = 1, kLsn = 2, kText = 3 };

// A producer's order of the requests of one document, as bytes that compare like the sequence does.
// Invariant: at most kMaxBytes bytes; a byte behind size_ is 0.
class Sequence {
 public:
  static constexpr std::size_t kMaxBytes = 32;

  constexpr Sequence() = default;

  // REQUIRES: bytes.size() <= kMaxBytes
  explicit Sequence(std::string_view bytes) : size_(static_cast<std::uint8_t>(bytes.size())) {
    RESEQ_ASSERT(bytes.size() <= kMaxBytes, "a sequence longer than its limit");
    if (!bytes.empty()) std::memcpy(bytes_.data(), bytes.data(), bytes.size());
  }

  // Eight bytes, the first one highest.
  [[nodiscard]] static Sequence of_number(std::uint64_t number) {
    const std::uint64_t word = in_order(number);
    Sequence sequence;
    sequence.size_ = sizeof word;
    std::memcpy(sequence.bytes_.data(), &word, sizeof word);
    return sequence;
  }

  [[nodiscard]] std::string_view bytes() const { return {bytes_.data(), size_}; }

  // What of_number() was given; none when it is no number of eight bytes.
  [[nodiscard]] std::optional<std::uint64_t> number() const {
    if (size_ != sizeof(std::uint64_t)) return std::nullopt;
    return in_order(word(0));
  }

  // As the bytes compare: the zeros behind a shorter one stand below everything that a longer one has there, and what
  // is left then is decided by the length. Whole words, because every decision compares several times.
  friend std::strong_ordering operator<=>(const Sequence& a, const Sequence& b) {
    for (std::size_t at = 0; at < kMaxBytes; at += sizeof(std::uint64_t))
      if (a.word(at) != b.word(at)) return in_order(a.word(at)) <=> in_order(b.word(at));
    return a.size_ <=> b.size_;
  }
  friend bool operator==(const Sequence& a, const Sequence& b) {
    return a.size_ == b.size_ && std::memcmp(a.bytes_.data(), b.bytes_.data(), kMaxBytes) == 0;
  }

 private:
  // Eight bytes as they lie in memory.
  [[nodiscard]] std::uint64_t word(std::size_t at) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + at, sizeof word);
    return word;
  }
  // From a number to its bytes with the first one highest, and back.
  static std::uint64_t in_order(std::uint64_t word) {
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
  }

  std::uint8_t size_ = 0;
  std::array<char, kMaxBytes> bytes_{};
};

// Compared left to right.
struct Order {
  Epoch epoch;
  Sequence sequence;
  Revision revision;

  friend std::strong_ordering operator<=>(const Order&, const Order&) = default;
  friend bool operator==(const Order&, const Order&) = default;
};

// The same request, whatever its revision.
[[nodiscard]] inline bool same_request(const Order& a, const Order& b) {
  return a.epoch == b.epoch && a.sequence == b.sequence;
}

}  // namespace reseq
