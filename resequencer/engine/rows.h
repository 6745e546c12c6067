// Rows: rows of other kinds than documents, as they stand after the decisions made so far, above the committed state.
// Invariants: a row is read from the state once; output order is the order of first change; a row that came and went in
// the batch is no change.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/hash_index.h"
#include "engine/state_view.h"
#include "model/effects.h"

namespace reseq::engine {

class Rows {
 public:
  // REQUIRES: view outlives it.
  explicit Rows(const StateView& view) : view_(view) {}

  // The row under this key, or none. Its bytes live until the batch is applied.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const { return at(key).value; }
  // Rows whose keys begin with `prefix`, behind `cursor` (empty: from the start), in key order, `rows_max` at most.
  // Each lives until its visit returns. `visit` must change nothing. REQUIRES: prefix is not empty.
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max, const RowVisit& visit) const;

  // Both are copied. REQUIRES: it is the key of a kind of codec/row_kinds.h, and no document's.
  void put(std::string_view key, std::string_view value);
  void remove(std::string_view key);

  // Keys that were put or removed.
  [[nodiscard]] std::size_t touched() const { return order_.size(); }
  // The bytes live as long as this.
  [[nodiscard]] std::vector<KeyedChange> changes() const;

 private:
  struct Known {
    std::string_view key;
    std::optional<std::string_view> value;
    std::uint32_t place = kNoPlace;
    bool committed = false;  // the state has one
    bool changed = false;
  };
  [[nodiscard]] Known& at(std::string_view key) const;
  Known& change(std::string_view key);

  const StateView& view_;
  // Looking changes no answer.
  mutable Arena bytes_;
  mutable HashIndex index_;  // of known_
  mutable std::vector<Known> known_;
  std::vector<std::uint32_t> order_;  // of first change
};

}  // namespace reseq::engine
