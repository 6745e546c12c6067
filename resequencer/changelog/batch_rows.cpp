#include "changelog/batch_rows.h"

#include <string>

#include "codec/keys.h"
#include "codec/rows.h"

namespace reseq::changelog {

namespace {

std::optional<std::string_view> encoded(std::string_view key, const RowChange& change, Arena& arena) {
  if (change.row == nullptr) return std::nullopt;
  thread_local std::string value;
  value.clear();
  codec::encode_row(key, change.id, *change.row, value);
  return arena.copy(value);
}

}  // namespace

void append_rows(std::span<const RowChange> changes, const store::BatchView& view, Arena& arena,
                 std::vector<store::Change>& out) {
  out.reserve(out.size() + changes.size());
  for (const RowChange& change : changes) {
    const store::LookedUp& looked_up = view.at(change.place);
    out.push_back({looked_up.key, encoded(looked_up.key, change, arena), &looked_up});
  }
}

void append_rows(std::span<const RowChange> changes, const codec::KeyedHash& hash, Arena& arena,
                 std::vector<store::Change>& out) {
  for (const RowChange& change : changes) {
    const std::string_view key = codec::document_key(change.id, hash, arena);
    out.push_back({key, encoded(key, change, arena)});
  }
}

store::Change targets_row(const TargetTable& table, Arena& arena) {
  std::string value;
  codec::encode_targets(codec::target_table_key(), table, value);
  return {codec::target_table_key(), arena.copy(value)};
}

store::Change identity_row(const Identity& identity, Arena& arena) {
  std::string value;
  codec::encode_identity(codec::identity_key(), identity, value);
  return {codec::identity_key(), arena.copy(value)};
}

store::Change meta_row(const Meta& meta, Arena& arena) {
  std::string value;
  codec::encode_meta(codec::meta_key(), meta, value);
  return {codec::meta_key(), arena.copy(value)};
}

}  // namespace reseq::changelog
