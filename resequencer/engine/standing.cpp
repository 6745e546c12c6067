#include "engine/standing.h"

#include <algorithm>

namespace reseq::engine {

Standing standing_at(const Row* row, const Order& order) {
  Standing at;
  if (row == nullptr) return at;
  for (const Group& group : row->groups) {  // newest first
    const std::strong_ordering than = group.order <=> order;
    if (than > 0) {
      at.newer |= group.known();
    } else if (than == 0) {
      at.group = &group;
      at.pending = group.pending;
      at.served = group.served.without(at.newer);  // else only the last release of a target that went on
      at.removed = group.removed;
    } else {
      at.older |= group.known();
    }
  }
  at.older = at.older.without(at.newer | at.here());
  return at;
}

const Order* newest_order(const Row* row) {
  return row == nullptr || row->groups.empty() ? nullptr : &row->groups.front().order;
}

const Order& newest_order_of(const Row& row, TargetSet targets) {
  const auto newest = std::find_if(row.groups.begin(), row.groups.end(),
                                   [&](const Group& group) { return !(group.known() & targets).empty(); });
  RESEQ_ASSERT(newest != row.groups.end(), "the newest order of targets that the row does not know");
  return newest->order;
}

bool below_barrier(const Row* row, const Order& order) {
  return row != nullptr && row->barrier.has_value() && order < *row->barrier;
}

const Order* last_release(const Row& row, TargetNumber t) {
  for (const Group& group : row.groups)
    if (group.served.contains(t)) return &group.order;
  return nullptr;
}

}  // namespace reseq::engine
