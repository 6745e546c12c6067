// EncodedRows: a state of rows of all kinds in memory, as they are encoded: what a batch changed is written as its
// bytes and read again from them.
// Thread rule: one thread.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/arena.h"
#include "base/assert.h"
#include "codec/hash.h"
#include "codec/held_rows.h"
#include "codec/row_kinds.h"
#include "engine/batch.h"
#include "tests/gate/keyed_rows.h"

namespace reseq::gate {

class EncodedRows final : public WithOthers<> {
 public:
  [[nodiscard]] engine::Lookup find(DocumentId id) const override {
    const std::string key = key_of(id);
    const auto value = others.row(key);
    if (!value) return {};
    engine::Lookup found;
    found.row.emplace();
    const auto error = codec::decode_row_of(id, key, *value, *found.row, found.collision);
    RESEQ_ASSERT(!error && !found.collision, "a row that was encoded cannot be read");
    return found;
  }
  [[nodiscard]] const Summary& summary() const override { return summary_; }

  // What a closed batch changed. `record_of`: the record of an input, or of what it let through, whose bytes live until
  // the next one is asked for.
  template <typename RecordOf>
  void apply(const engine::Batch& decided, const RecordOf& record_of) {
    Arena arena;
    std::vector<KeyedChange> rows;
    for (const Hold& hold : decided.holds()) codec::append_held(hold, record_of(hold.input), hash(), arena, rows);
    rows.insert(rows.end(), decided.row_changes().begin(), decided.row_changes().end());
    others.apply(rows);
    for (const RowChange& change : decided.changes()) put(change.id, change.row);
    sum_up();
  }

  [[nodiscard]] std::map<std::string, Row> documents() const {
    std::map<std::string, Row> found;
    for (const auto& [key, value] : others.all()) {
      if (codec::row_kind_of(key) != &codec::kDocumentRows) continue;
      auto decoded = codec::decode_row(key, value);
      auto& document = std::get<codec::DocumentRow>(decoded);
      found.emplace(std::move(document.id), std::move(document.row));
    }
    return found;
  }

 private:
  static const codec::KeyedHash& hash() {
    static const codec::KeyedHash hash{HashKey()};
    return hash;
  }
  static std::string key_of(DocumentId id) {
    std::string key;
    codec::append_document_key(id, hash(), key);
    return key;
  }
  void put(DocumentId id, const Row* row) {
    const std::string key = key_of(id);
    journaled.put(id, row, hash());
    if (row == nullptr) return others.put(key, std::nullopt);
    std::string value;
    codec::encode_row(key, id, *row, value);
    others.put(key, value);
  }
  void sum_up() {
    summary_ = Summary();
    for (const auto& [key, value] : others.all())
      if (const codec::RowKind* kind = codec::row_kind_of(key)) {
        summary_.counts.add(kind->counted(value));
        if (kind->type == codec::KeyType::kDocument) summary_.add(codec::priorities_of(value));
        if (kind->held) codec::count_held(key, 0, value.size(), summary_.counts);
      }
  }

  Summary summary_;
};

}  // namespace reseq::gate
