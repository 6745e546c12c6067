// Ruling: what the engine decided about one input, before anything of it happened: its outcome, what it does to the row
// of its document, and what of the record it sends on is not in the input.
// Thread rule: plain values.
#pragma once

#include <optional>

#include "engine/context.h"
#include "model/effects.h"
#include "model/row.h"

namespace reseq::engine {

// A request that was accepted, to be noted at the order of the edit.
struct Accepted {
  Offset position;
  PayloadHash hash;
  TargetSet forwarded;
  const Digest* content = nullptr;  // what it asks for, where somebody looks; it outlives the edit
};

// A change of one row. Every edit that is not nothing() makes the row differ from what it was.
struct RowEdit {
  Order order;                         // what the following happens at
  TargetSet moved;                     // become pending there, leaving older orders
  TargetSet removed;                   // become removed there
  std::optional<TargetNumber> served;  // released there,
  Version version;                     // with this version, as the marker of what fails,
  bool deletes = false;                // as a delete
  bool raises_barrier = false;         // to `order`
  bool by_hand = false;                // by an operator: `removed` wherever they are pending
  bool fails = false;                  // `removed` because their work failed for good
  bool unchanged = false;              // `moved` become served there instead: they have what it asks for
  std::optional<Accepted> requested;   // as a request with this order

  [[nodiscard]] bool nothing() const {
    return moved.empty() && removed.empty() && !served && !raises_barrier && !requested;
  }
};

// What is sent follows from the outcome: kForwarded sends the request on to edit.requested->forwarded, kReleased the
// result to edit.served, a dead letter or a redirect the input as it is.
struct Ruling {
  Decision decision;
  bool miss = false;       // the row does not know what is asked for: final only when `requests` was read first
  bool has_order = false;  // the input has one: edit.order
  Op op = Op::kUpsert;     // of what is forwarded or released
  RowEdit edit;
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

// What a policy says of something that the row does not know. `miss`: final only when `requests` was read first.
[[nodiscard]] inline Ruling by_policy(OnUnregistered policy, TableRow table_row, Reason reason, bool miss) {
  Ruling ruling = policy == OnUnregistered::kDrop ? drop(table_row, reason) : dead_letter(table_row, reason);
  ruling.miss = miss;
  return ruling;
}

// Says at which order it happened.
inline void set_order(Ruling& ruling, const Order& order) {
  ruling.edit.order = order;
  ruling.has_order = true;
}

}  // namespace reseq::engine
