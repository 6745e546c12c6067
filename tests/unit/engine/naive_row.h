// NaiveRow: a row told target by target, the way the tables speak of it (newest(t), last release of t), without groups
// or bit sets. The exhaustive tests restate the tables on it, independently of the engine. Thread rule: plain values.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "map_state.h"

namespace reseq::engine {

// Orders of this small world, rising: 0 = none, 1 = (seq 1, rev 0), 2 = (seq 2, rev 0), 3 = (seq 2, rev 1),
// 4 = (seq 3, rev 0); 5 = (seq 2, rev 2) and 6 = (seq 1, rev 1) are made by a reprocess only.
using NaiveOrder = int;
Order real_order(NaiveOrder order);
int sequence_number(NaiveOrder order);
// True when a is older than b.
bool older(NaiveOrder a, NaiveOrder b);

enum class NaiveState : unsigned char { kNever, kPending, kServed, kRemoved };

// What a target is at its newest order, and the order of its last release.
struct NaiveTarget {
  NaiveOrder newest = 0;
  NaiveState state = NaiveState::kNever;
  NaiveOrder released = 0;
  friend bool operator==(const NaiveTarget&, const NaiveTarget&) = default;
};

inline constexpr std::size_t kNaiveTargets = 2;
inline constexpr Digest kNaiveContent{1, 1};  // what the newest requested order asked for

struct NaiveRow {
  std::array<NaiveTarget, kNaiveTargets> targets;
  NaiveOrder barrier = 0;
  NaiveOrder requested = 0;           // the newest requested order; its payload hash is 1
  std::array<bool, 7> was_requested;  // by order

  [[nodiscard]] bool exists() const;
  [[nodiscard]] bool completed() const;
  [[nodiscard]] bool is_group(NaiveOrder order) const;
  [[nodiscard]] NaiveOrder newest() const;
};

// The row that says the same. REQUIRES: row.exists()
Row real_row(const NaiveRow& row);

// What a row says of its targets.
std::array<NaiveTarget, kNaiveTargets> targets_of(const Row& row);

// Every row of two targets and orders 1 .. 3 that the invariants of model/row.h allow, also the one that is not there:
// states, last releases, barriers. `request_marks`: times which orders were requested, which is the newest of them.
void for_each_row(bool request_marks, const std::function<void(const NaiveRow&)>& visit);

}  // namespace reseq::engine
