// Sequences between text on the wire and order-preserving bytes.
//   u64        decimal 0 .. 2^64-1, no sign, no spaces            -> 8 bytes, highest first
//   timestamp  RFC 3339 with zone (timestamp_text.h), or decimal ns since 1970, which may be negative
//                                                                 -> int64 ns, sign bit flipped, 8 bytes, highest first
//   lsn        hi/lo, each 1 .. 8 hex digits                      -> 8 bytes, highest first
//   text       1 .. 32 bytes                                      -> as they are
// Thread rule: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/order.h"

namespace reseq::codec {

// Of the text that format_sequence gives: a timestamp has at most 30.
inline constexpr std::size_t kSequenceTextMax = Sequence::kMaxBytes;

// Empty when the text is not a sequence of that kind.
[[nodiscard]] std::optional<Sequence> parse_sequence(SequenceKind kind, std::string_view text);
// Canonical text; parse_sequence(kind, format_sequence(kind, s)) == s.
// REQUIRES: the sequence is one of that kind.
[[nodiscard]] std::string format_sequence(SequenceKind kind, const Sequence& sequence);

// "u64", "timestamp", "lsn", "text"
[[nodiscard]] std::optional<SequenceKind> parse_sequence_kind(std::string_view name);
[[nodiscard]] std::string_view name_of(SequenceKind kind);

}  // namespace reseq::codec
