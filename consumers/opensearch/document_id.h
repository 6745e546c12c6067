// The `_id` of a document in OpenSearch, which is UTF-8 text of at most 512 bytes. An id of ours is any bytes.
//
//   _id      = plain / "reseq:e:" encoded / "reseq:h:" 64HEX
//   plain    = the id itself: UTF-8 of at most kIdBytesMax bytes that does not begin with "reseq:e:" or "reseq:h:"
//   encoded  = 1*( A-Z / a-z / 0-9 / "-" / "_" / "." / "~" / "/" / "%" 2HEX )     ; byte by byte
//   64HEX    = SHA-256 of the id, where the form above would have more than kIdBytesMax; nobody can make two ids
//              that meet
//
// HEX is lower case. An `_id` stands for one id only. Where it is not the id itself, the field `reseq_id` holds the
// whole id, encoded.
// Thread rule: pure.
#pragma once

#include <string>
#include <string_view>

namespace reseq::opensearch {

inline constexpr std::size_t kIdBytesMax = 512;

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

[[nodiscard]] bool is_plain_id(std::string_view id);

[[nodiscard]] std::string encoded(std::string_view id);

// REQUIRES: !is_plain_id(id)
[[nodiscard]] std::string substitute_id(std::string_view id);

}  // namespace reseq::opensearch
