// Ruling: what the engine decided about one input, before anything of it happened: its outcome, what it does to the row
// of its document, and the record it sends on.
// Thread rule: plain values.
#pragma once

#include <optional>
#include <variant>

#include "model/effects.h"
#include "model/row.h"

namespace reseq::engine {

// A change of one row. Every edit that is not nothing() makes the row differ from what it was.
struct RowEdit {
  Order order;                         // what the following happens at
  TargetSet moved;                     // become pending there, leaving older orders
  TargetSet removed;                   // become removed there
  std::optional<TargetNumber> served;  // released there,
  Version version;                     // with this version
  bool raises_barrier = false;         // to `order`
  std::optional<Requested> requested;  // a request with this order was accepted

  [[nodiscard]] bool nothing() const {
    return moved.empty() && removed.empty() && !served && !raises_barrier && !requested;
  }
};

struct Ruling {
  Decision decision;
  bool miss = false;           // the row does not know what is asked for: final only when `requests` was read first
  std::optional<Order> order;  // of the input, as far as it has one
  RowEdit edit;
  std::variant<std::monostate, Forward, Release> sends;  // a dead letter or redirect follows from the outcome
};

[[nodiscard]] inline Ruling drop(TableRow row, Reason reason) {
  Ruling ruling;
  ruling.decision = {Outcome::kDropped, reason, row};
  return ruling;
}

[[nodiscard]] inline Ruling dead_letter(TableRow row, Reason reason) {
  Ruling ruling;
  ruling.decision = {Outcome::kDeadLettered, reason, row};
  return ruling;
}

// No row of a table took effect.
[[nodiscard]] inline Ruling refuse(Reason reason) {
  return dead_letter(TableRow::kNone, reason);
}

}  // namespace reseq::engine
