// Keys of rows, the same in LMDB and in the changelog.
//
//   key        := type u8 | realm u8 | tag u8 | name | terminator | sub
//               | 'H' | realm u8 | gate u8 | rank                  a held record
//               | 'P' | realm u8 | gate u8 | rank | number u32     its further pieces, from 1, highest byte first
//               | 'X' | realm u8 | gate u8 | rank                  a task
//               | 'L' | realm u8 | gate u8 | rank                  a place in a lane
//   type       := 'D' document | 'T' target table | 'M' meta | 'I' identity
//                 reserved: 'C' catalogue | 'G' match
//   realm      := 0 (others come later)
//   gate       := whose it is (engine/gate_numbers.h)
//   rank       := 3 to kMaxRankBytes bytes, which compare as the gate orders
//   tag        := 0 raw: name is the id | 1 hashed: name is the id's first kHashedPrefixBytes bytes
//   name       := id bytes, each 00 written as 00 FF, so that keys compare as ids do
//   terminator := 00 00
//   sub        := empty for a raw key, 16 bytes of keyed hash of the whole id (big-endian) for a hashed one
//
// An id is hashed when its raw key would be longer than kMaxKeyBytes - kSubReserve. M, T and I have one row each per
// partition; their name is the word "partition". A key has at least 6 and at most kMaxKeyBytes bytes; kSubReserve bytes
// are left free for the subs of later row types. A key has one encoding: other bytes are no key.
// Thread rule: any thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "codec/hash.h"
#include "model/command.h"

namespace reseq::codec {

inline constexpr std::size_t kMaxKeyBytes = 511;  // LMDB 0.9
inline constexpr std::size_t kSubReserve = 64;
inline constexpr std::size_t kHashedPrefixBytes = 128;

enum class KeyType : char {
  kDocument = 'D',
  kTargets = 'T',
  kMeta = 'M',
  kIdentity = 'I',
  kHeld = 'H',
  kPiece = 'P',
  kTask = 'X',
  kPlace = 'L',
};

struct ParsedKey {
  KeyType type = KeyType::kDocument;
  bool hashed = false;
  std::string name;  // unescaped: the id, or its prefix when hashed; the rank of what a gate has
};

// Appends the key of a document to `out`. REQUIRES: 1 <= id.size() <= kMaxIdBytes.
void append_document_key(DocumentId id, const KeyedHash& hash, std::string& out);
// The same key, in the arena.
[[nodiscard]] std::string_view document_key(DocumentId id, const KeyedHash& hash, Arena& arena);
// True when the key of `id` holds only a prefix and a hash, so that the row must carry the whole id.
[[nodiscard]] bool key_is_hashed(DocumentId id);

// What the keys of all ids that begin with `prefix` begin with: raw ones, then hashed ones. Empty = of all documents.
[[nodiscard]] std::array<std::string, 2> document_key_prefixes(DocumentId prefix);

// What a gate holds, and its tasks. REQUIRES: kMinRankBytes <= rank.size() <= kMaxRankBytes.
inline constexpr std::size_t kMinRankBytes = 3;
inline constexpr std::size_t kMaxRankBytes = 400;
[[nodiscard]] std::string held_key(std::uint8_t gate, std::string_view rank);
// The further pieces of what is held under that key; they count from 1.
[[nodiscard]] std::string piece_key(std::string_view held_key, std::uint32_t number);
[[nodiscard]] std::string task_key(std::uint8_t gate, std::string_view rank);

// Whose a key is that one of these made, or that a place has.
[[nodiscard]] std::uint8_t gate_of(std::string_view key);

[[nodiscard]] std::string_view meta_key();
[[nodiscard]] std::string_view target_table_key();
[[nodiscard]] std::string_view identity_key();

// True for a key that held_key() makes: what parse_key() would say, without a copy.
[[nodiscard]] bool is_held_key(std::string_view key);

// Empty when the bytes are no key of a type that this version knows.
[[nodiscard]] std::optional<ParsedKey> parse_key(std::string_view key);

}  // namespace reseq::codec
