// StateView: how decisions read the state. store::BatchView implements it; a test may use a map.
// Thread rule: used by the worker that owns the partition.
#pragma once

#include <cstdint>
#include <optional>

#include "model/command.h"
#include "model/row.h"

namespace reseq::engine {

struct Lookup {
  std::optional<Row> row;
  bool collision = false;   // another id owns the 128-bit hash of this one: dead-letter `id_collision`
  std::uint32_t place = 0;  // what the view calls it: comes back with the change of the row
};

class StateView {
 public:
  virtual ~StateView() = default;

  // The committed row of a document, or none.
  [[nodiscard]] virtual Lookup find(DocumentId id) const = 0;
};

}  // namespace reseq::engine
