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

TargetSet without_release_for(const Row& row, UnixMs now, Milliseconds least) {
  TargetSet found;
  row.each_without_release([&](TargetSet targets, UnixMs since) {
    if (now.value() - since.value() >= least.value()) found |= targets;
  });
  return found & row.pending();
}

TargetSet overdue_targets(const Row& row, UnixMs now) {
  if (!row.overdue) return {};
  const auto longest = row.without_release_since();
  if (!longest) return {};
  // The time-out may have been another one when it was set.
  return without_release_for(row, now,
                             Milliseconds(std::max<std::int64_t>(row.deadline.value() - longest->value(), 1)));
}

const Order* last_release(const Row& row, TargetNumber t) {
  for (const Group& group : row.groups)
    if (group.served.contains(t)) return &group.order;
  return nullptr;
}

}  // namespace reseq::engine
