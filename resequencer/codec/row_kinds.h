// Row kinds: what a state is made of, one line per kind. The store, its copy on disk, restores, inventories and the
// judge ask this table what a row is. A key of no kind was written by a newer version. A new kind needs a line here,
// its keys in parse_key, and a count of its own: their sum is compared with the number of rows on disk.
// Thread rule: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "codec/keys.h"
#include "codec/rows.h"
#include "model/ids.h"
#include "model/summary.h"

namespace reseq::codec {

// `counted` and `timer` REQUIRE a value that was encoded by this process or checked once.
struct RowKind {
  KeyType type;
  char realm;
  std::string_view name;  // in messages
  bool removable;         // a tombstone may end a row of it
  bool summed;            // part of the digest
  // What is wrong with a row; none = nothing.
  std::optional<RowError> (*check)(std::string_view key, std::string_view value);
  // What a row counts as.
  CountSet (*counted)(std::string_view value);
  // When a row is to be looked at again; none = never.
  std::optional<UnixMs> (*timer)(std::string_view value);
  bool held = false;  // what its values have counts as held bytes
  // The entries of other indexes that it has; null = never any. Ask may_have_entries() first.
  void (*entries)(std::string_view value, const EntryVisit& visit) = nullptr;
};

extern const std::array<RowKind, 8> kRowKinds;  // documents first: nearly all rows are
inline constexpr const RowKind& kDocumentRows = kRowKinds[0];

// Of those behind documents.
[[nodiscard]] const RowKind* rare_row_kind_of(std::string_view key);
// Null: this version knows no such kind.
[[nodiscard]] inline const RowKind* row_kind_of(std::string_view key) {
  if (key.size() < 2) return nullptr;
  if (key[0] == static_cast<char>(KeyType::kDocument) && key[1] == 0) return &kRowKinds[0];
  return rare_row_kind_of(key);
}

// False: it has no entries of indexes. Of documents nearly all have none, and only their flags are looked at.
[[nodiscard]] inline bool may_have_entries(const RowKind& kind, std::string_view value) {
  return &kind == &kDocumentRows ? has_journal(value) : kind.entries != nullptr;
}

// A row that is held takes so many bytes now, in place of `old`; 0: none. REQUIRES: a key of a kind that is held.
void count_held(std::string_view key, std::size_t old, std::size_t fresh, Counts& counts);

// Of a row of any kind.
[[nodiscard]] inline std::optional<UnixMs> timer_of(std::string_view key, std::string_view value) {
  const RowKind* kind = row_kind_of(key);
  return kind != nullptr ? kind->timer(value) : std::nullopt;
}

}  // namespace reseq::codec
