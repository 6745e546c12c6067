// StateView: how decisions read the committed state. store::BatchView implements it; a test may use a map.
// Thread rule: used by the worker that owns the partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "model/command.h"
#include "model/effects.h"
#include "model/row.h"
#include "model/summary.h"

namespace reseq::engine {

struct Lookup {
  std::optional<Row> row;
  bool collision = false;   // another id owns the 128-bit hash of this one: dead-letter `id_collision`
  std::uint32_t place = 0;  // what the view calls it: comes back with the change of the row
};

// False: that was the last one.
using RowVisit = std::function<bool(std::string_view key, std::string_view value)>;
using IndexVisit = std::function<bool(std::string_view entry, std::string_view row_key)>;

struct KeyedLookup {
  std::optional<std::string_view> value;  // none: there is no such row. Its bytes live until the batch is applied
  std::uint32_t place = kNoPlace;         // what the view calls it: comes back with the change of the row
};

class StateView {
 public:
  virtual ~StateView() = default;

  // The row of a document, or none.
  [[nodiscard]] virtual Lookup find(DocumentId id) const = 0;

  // What all rows add up to; a view of documents alone has nothing that waits.
  [[nodiscard]] virtual const Summary& summary() const {
    static const Summary nothing;
    return nothing;
  }

  // Rows of the other kinds, encoded, by key; a view of documents alone has none.
  // The row under this key (not empty), or none. Its bytes live until the batch is applied.
  [[nodiscard]] virtual std::optional<std::string_view> row(std::string_view /*key*/) const { return std::nullopt; }
  // The same for who may change it.
  [[nodiscard]] virtual KeyedLookup find_row(std::string_view key) const { return {row(key), kNoPlace}; }
  // Rows whose keys begin with `prefix`, behind `cursor` (empty: from the start), in key order, `rows_max` at most.
  // Each lives until its visit returns. REQUIRES: prefix is not empty.
  virtual void scan(std::string_view /*prefix*/, std::string_view /*cursor*/, std::size_t /*rows_max*/,
                    const RowVisit& /*visit*/) const {}
  // Rows by an index (below kIndexes), in the order of its entries from the first that is not less than `from`; those
  // of the same entry by key. Shorter entries are less. `entries_max` at most. They are those of the committed state:
  // what the batch changed is to be looked up. What is visited lives until the visit returns. REQUIRES: `from` is no
  // longer than an entry may be.
  virtual void index(std::uint8_t /*index*/, std::string_view /*from*/, std::size_t /*entries_max*/,
                     const IndexVisit& /*visit*/) const {}
};

}  // namespace reseq::engine
