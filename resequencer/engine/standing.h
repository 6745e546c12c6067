// Standing: where the targets of a row stand, seen from one order. All that the decision tables ask about newest(t).
// Invariants: newer, pending, served, removed and older are disjoint; together they are all targets the row knows.
// Thread rule: plain values; `group` points into the row it was made from.
#pragma once

#include <optional>

#include "model/row.h"

namespace reseq::engine {

struct Standing {
  const Group* group = nullptr;  // of exactly that order o
  TargetSet newer;               // newest(t) > o
  TargetSet pending;             // newest(t) = o, and what t is there
  TargetSet served;
  TargetSet removed;
  TargetSet older;  // newest(t) < o

  [[nodiscard]] TargetSet here() const { return pending | served | removed; }
};

// `row` null = nothing is known.
[[nodiscard]] Standing standing_at(const Row* row, const Order& order);

// Highest order of a row, null when it is not there or has no groups. Points into `row`.
[[nodiscard]] const Order* newest_order(const Row* row);

// Highest newest(t) of these targets. REQUIRES: the row knows one of them.
[[nodiscard]] const Order& newest_order_of(const Row& row, TargetSet targets);

// o < barrier: a delete meant for all targets stands above it.
[[nodiscard]] bool below_barrier(const Row* row, const Order& order);

// Targets that wait and got nothing for at least so long.
[[nodiscard]] TargetSet without_release_for(const Row& row, UnixMs now, Milliseconds least);

// Of an overdue document, the targets that have got nothing for as long as it takes; others of it may wait since a
// moment ago.
[[nodiscard]] TargetSet overdue_targets(const Row& row, UnixMs now);

// Order of the last release of t, null if there was none. Points into `row`.
[[nodiscard]] const Order* last_release(const Row& row, TargetNumber t);

}  // namespace reseq::engine
