#include "changelog/batch_rows.h"

#include <string>

#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"

namespace reseq::changelog {

void append_rows(std::span<const RowChange> changes, const store::BatchView& view, Arena& arena,
                 std::vector<store::Change>& out) {
  std::string value;
  out.reserve(out.size() + changes.size());
  for (const RowChange& change : changes) {
    const store::LookedUp& looked_up = view.at(change.place);
    store::Change& record = out.emplace_back(store::Change{looked_up.key, std::nullopt, &looked_up});
    if (change.row == nullptr) continue;
    value.clear();
    codec::encode_row(record.key, change.id, *change.row, value);
    record.value = arena.copy(value);
  }
}

void append_rows(std::span<const Hold> holds, std::span<const codec::InputRecord> records, const codec::KeyedHash& hash,
                 Arena& arena, std::vector<store::Change>& out) {
  std::vector<KeyedChange> rows;
  for (const Hold& hold : holds) codec::append_held(hold, records[hold.input.value()], hash, arena, rows);
  append_rows(rows, out);
}

void append_rows(std::span<const KeyedChange> changes, std::vector<store::Change>& out) {
  for (const KeyedChange& change : changes) out.push_back({change.key, change.value});
}

void append_rows(std::span<const KeyedChange> changes, const store::BatchView& view, std::vector<store::Change>& out) {
  for (const KeyedChange& change : changes)
    out.push_back({change.key, change.value, nullptr, change.place == kNoPlace ? nullptr : &view.row_at(change.place)});
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
