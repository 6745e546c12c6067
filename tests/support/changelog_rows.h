// Changelog records of changed documents that no batch has looked up. Thread rule: pure; bytes live in the arena.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "model/effects.h"
#include "store/partition_store.h"

namespace reseq::test {

inline void append_rows(std::span<const RowChange> changes, const codec::KeyedHash& hash, Arena& arena,
                        std::vector<store::Change>& out) {
  for (const RowChange& change : changes) {
    store::Change& record = out.emplace_back();
    record.key = codec::document_key(change.id, hash, arena);
    if (change.row == nullptr) continue;
    std::string value;
    codec::encode_row(record.key, change.id, *change.row, value);
    record.value = arena.copy(value);
  }
}

}  // namespace reseq::test
