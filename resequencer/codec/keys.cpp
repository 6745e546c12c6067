#include "codec/keys.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/big_endian.h"

namespace reseq::codec {
namespace {

constexpr char kRealm = 0;
constexpr char kRaw = 0;
constexpr char kHashed = 1;
constexpr std::size_t kHeadBytes = 3;
constexpr std::size_t kTerminatorBytes = 2;
constexpr std::size_t kHashBytes = 16;
constexpr std::size_t kPieceNumberBytes = 4;
constexpr std::string_view kSingleName = "partition";

constexpr char kEscapedZero[] = {'\x00', '\xFF'};
constexpr char kTerminator[] = {'\x00', '\x00'};

// The literals hold NUL bytes, so their lengths come from the array.
template <std::size_t N>
constexpr std::string_view literal(const char (&bytes)[N]) {
  return {bytes, N - 1};
}

std::size_t zeros_in(std::string_view bytes) {
  return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\0'));
}

void append_escaped(std::string_view name, std::string& out) {
  for (std::size_t from = 0;;) {
    const std::size_t zero = name.find('\0', from);
    if (zero == std::string_view::npos) {
      out.append(name, from);
      return;
    }
    out.append(name, from, zero - from);
    out.append(kEscapedZero, sizeof kEscapedZero);
    from = zero + 1;
  }
}

// Reads name and terminator; `rest` becomes what is behind them. Empty when the terminator or an escape is broken.
std::optional<std::string> read_name(std::string_view& rest) {
  std::string name;
  for (;;) {
    const std::size_t zero = rest.find('\0');
    if (zero == std::string_view::npos || zero + 1 == rest.size()) return std::nullopt;
    name.append(rest, 0, zero);
    const char next = rest[zero + 1];
    rest.remove_prefix(zero + 2);
    if (next == '\0') return name;
    if (next != '\xFF') return std::nullopt;
    name.push_back('\0');
  }
}

std::optional<ParsedKey> parse_document_key(bool hashed, std::string_view rest) {
  auto name = read_name(rest);
  if (!name) return std::nullopt;
  if (hashed) {
    if (name->size() != kHashedPrefixBytes || rest.size() != kHashBytes) return std::nullopt;
  } else {
    if (!rest.empty() || name->empty() || key_is_hashed(*name)) return std::nullopt;
  }
  return ParsedKey{KeyType::kDocument, hashed, std::move(*name)};
}

std::string key_of_gate(KeyType type, std::uint8_t gate, std::string_view rank) {
  RESEQ_ASSERT(rank.size() >= kMinRankBytes && rank.size() <= kMaxRankBytes, "a rank outside its limits");
  std::string key = {static_cast<char>(type), kRealm, static_cast<char>(gate)};
  key.append(rank);
  return key;
}

// `rank`: what stands behind the head, with the number of a piece.
std::optional<ParsedKey> parse_key_of_gate(KeyType type, std::string_view rank) {
  if (type == KeyType::kPiece) {
    if (rank.size() < kPieceNumberBytes) return std::nullopt;
    const std::string_view number = rank.substr(rank.size() - kPieceNumberBytes);
    if (number.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;  // they count from 1
    rank.remove_suffix(kPieceNumberBytes);
  }
  if (rank.size() < kMinRankBytes || rank.size() > kMaxRankBytes) return std::nullopt;
  return ParsedKey{type, false, std::string(rank)};
}

}  // namespace

bool key_is_hashed(DocumentId id) {
  constexpr std::size_t kRawMax = kMaxKeyBytes - kSubReserve - kHeadBytes - kTerminatorBytes;
  if (id.size() > kRawMax) return true;
  if (id.size() <= kRawMax / 2) return false;
  return id.size() + zeros_in(id) > kRawMax;
}

void append_document_key(DocumentId id, const KeyedHash& hash, std::string& out) {
  RESEQ_ASSERT(!id.empty() && id.size() <= kMaxIdBytes, "a document id outside its limits");
  const bool hashed = key_is_hashed(id);
  const char head[kHeadBytes] = {static_cast<char>(KeyType::kDocument), kRealm, hashed ? kHashed : kRaw};
  out.append(head, sizeof head);
  append_escaped(hashed ? id.substr(0, kHashedPrefixBytes) : id, out);
  out.append(kTerminator, sizeof kTerminator);
  if (!hashed) return;
  const Digest digest = hash(id);
  append_big_endian(digest.high, out);
  append_big_endian(digest.low, out);
}

std::string_view document_key(DocumentId id, const KeyedHash& hash, Arena& arena) {
  if (id.empty() || key_is_hashed(id) || id.find('\0') != DocumentId::npos) {
    std::string key;
    append_document_key(id, hash, key);
    return arena.copy(key);
  }
  const std::size_t size = kHeadBytes + id.size() + kTerminatorBytes;
  char* const place = arena.allocate(size);
  place[0] = static_cast<char>(KeyType::kDocument);
  place[1] = kRealm;
  place[2] = kRaw;
  std::memcpy(place + kHeadBytes, id.data(), id.size());
  std::memcpy(place + kHeadBytes + id.size(), kTerminator, kTerminatorBytes);
  return {place, size};
}

std::array<std::string, 2> document_key_prefixes(DocumentId prefix) {
  std::array<std::string, 2> prefixes;
  for (const bool hashed : {false, true}) {
    std::string& bytes = prefixes[hashed ? 1 : 0];
    bytes = {static_cast<char>(KeyType::kDocument), kRealm, hashed ? kHashed : kRaw};
    append_escaped(hashed ? prefix.substr(0, kHashedPrefixBytes) : prefix, bytes);
  }
  return prefixes;
}

std::string held_key(std::uint8_t gate, std::string_view rank) {
  return key_of_gate(KeyType::kHeld, gate, rank);
}

std::string piece_key(std::string_view held_key, std::uint32_t number) {
  std::string key(held_key);
  key[0] = static_cast<char>(KeyType::kPiece);
  append_big_endian(number, key);
  return key;
}

std::string task_key(std::uint8_t gate, std::string_view rank) {
  return key_of_gate(KeyType::kTask, gate, rank);
}

std::uint8_t gate_of(std::string_view key) {
  RESEQ_ASSERT(key.size() > kHeadBytes, "no key of a gate");
  return static_cast<std::uint8_t>(key[kHeadBytes - 1]);
}

std::string_view meta_key() {
  return literal("M\0\0partition\0\0");
}
std::string_view target_table_key() {
  return literal("T\0\0partition\0\0");
}
std::string_view identity_key() {
  return literal("I\0\0partition\0\0");
}

bool is_held_key(std::string_view key) {
  return key.size() >= kHeadBytes + kMinRankBytes && key.size() <= kHeadBytes + kMaxRankBytes &&
         key[0] == static_cast<char>(KeyType::kHeld) && key[1] == kRealm;
}

std::optional<ParsedKey> parse_key(std::string_view key) {
  if (key.size() <= kHeadBytes || key[1] != kRealm) return std::nullopt;
  const auto type = static_cast<KeyType>(key[0]);
  const auto single = [&](std::string_view only) {
    return key == only ? std::optional(ParsedKey{type, false, std::string(kSingleName)}) : std::nullopt;
  };
  switch (type) {
    case KeyType::kDocument:
      if (key[2] != kRaw && key[2] != kHashed) return std::nullopt;
      return parse_document_key(key[2] == kHashed, key.substr(kHeadBytes));
    case KeyType::kMeta:
      return single(meta_key());
    case KeyType::kTargets:
      return single(target_table_key());
    case KeyType::kIdentity:
      return single(identity_key());
    case KeyType::kHeld:
    case KeyType::kPiece:
    case KeyType::kTask:
    case KeyType::kPlace:
      return parse_key_of_gate(type, key.substr(kHeadBytes));
  }
  return std::nullopt;
}

}  // namespace reseq::codec
