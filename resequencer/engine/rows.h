// Rows: rows of other kinds than documents, as they stand after the decisions made so far, above the committed state.
// Invariants: output order is the order of first change; a row that came and went in the batch is no change.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "engine/state_view.h"
#include "model/effects.h"

namespace reseq::engine {

class Rows {
 public:
  // REQUIRES: view outlives it.
  explicit Rows(const StateView& view) : view_(view) {}

  // The row under this key, or none. Its bytes live until the batch is applied.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;
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
  struct Changed {
    std::optional<std::string_view> value;
    bool committed = false;  // the state has one
  };
  Changed& change(std::string_view key);

  const StateView& view_;
  Arena bytes_;
  std::map<std::string_view, Changed> changed_;
  std::vector<std::string_view> order_;  // of first change
};

}  // namespace reseq::engine
