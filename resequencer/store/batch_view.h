// BatchView: the state as one batch sees it. It keeps what was looked up, so that nothing has to be looked up again
// when the changes of the batch are summed up and applied.
//
// Invariants: an answer stays right while the batch lives, because nothing but the batch changes its partition; places
// count up from 0. Thread rule: used by the worker that owns the partition.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/arena.h"
#include "engine/state_view.h"
#include "store/partition_store.h"

namespace reseq::store {

class BatchView final : public engine::StateView {
 public:
  // REQUIRES: store outlives the view
  explicit BatchView(const PartitionStore& store) : store_(store) {}

  [[nodiscard]] engine::Lookup find(DocumentId id) const override;
  [[nodiscard]] const Summary& summary() const override { return store_.summary(); }
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const override { return store_.row(key); }
  [[nodiscard]] engine::KeyedLookup find_row(std::string_view key) const override;
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const engine::RowVisit& visit) const override {
    store_.scan(prefix, cursor, rows_max, visit);
  }
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const override {
    store_.index(index, from, entries_max, visit);
  }

  // REQUIRES: a Lookup had this place. It lives as long as the view.
  [[nodiscard]] const LookedUp& at(std::uint32_t place) const { return looked_up_[place]; }
  // The same of a KeyedLookup.
  [[nodiscard]] const LookedUpRow& row_at(std::uint32_t place) const { return looked_up_rows_[place]; }

 private:
  const PartitionStore& store_;
  // Looking changes no answer.
  mutable Arena keys_;
  mutable std::deque<LookedUp> looked_up_;
  mutable std::deque<LookedUpRow> looked_up_rows_;
};

}  // namespace reseq::store
