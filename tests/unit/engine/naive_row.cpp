#include "naive_row.h"

#include <algorithm>

namespace reseq::engine {
namespace {

constexpr std::array<int, 7> kSequence = {0, 1, 2, 2, 3, 2, 1};
constexpr std::array<int, 7> kRevision = {0, 0, 0, 1, 0, 2, 1};
constexpr NaiveOrder kHighestInRows = 3;

std::vector<NaiveTarget> all_targets() {
  std::vector<NaiveTarget> all = {NaiveTarget{}};
  for (NaiveOrder newest = 1; newest <= kHighestInRows; ++newest) {
    all.push_back({newest, NaiveState::kServed, newest});
    for (NaiveOrder released = 0; released < newest; ++released) {
      all.push_back({newest, NaiveState::kPending, released});
      all.push_back({newest, NaiveState::kRemoved, released});
    }
  }
  return all;
}

bool pending_below_barrier(const NaiveRow& row) {
  return std::any_of(row.targets.begin(), row.targets.end(), [&](const NaiveTarget& t) {
    return t.state == NaiveState::kPending && older(t.newest, row.barrier);
  });
}

void for_each_mark(NaiveRow row, const std::function<void(const NaiveRow&)>& visit) {
  for (int marked = 0; marked < 3; ++marked)  // no order, the newest, all
    for (row.requested = 0; row.requested <= kHighestInRows; ++row.requested) {
      row.was_requested.fill(marked == 2);
      if (marked == 1) row.was_requested[static_cast<std::size_t>(row.newest())] = true;
      visit(row);
    }
}

}  // namespace

Order real_order(NaiveOrder order) {
  const auto i = static_cast<std::size_t>(order);
  return order_of(static_cast<std::uint64_t>(kSequence[i]), static_cast<std::uint64_t>(kRevision[i]));
}

int sequence_number(NaiveOrder order) {
  return kSequence[static_cast<std::size_t>(order)];
}

bool older(NaiveOrder a, NaiveOrder b) {
  return real_order(a) < real_order(b);
}

bool NaiveRow::exists() const {
  return std::any_of(targets.begin(), targets.end(), [](const NaiveTarget& t) { return t.newest != 0; });
}

bool NaiveRow::completed() const {
  return std::none_of(targets.begin(), targets.end(),
                      [](const NaiveTarget& t) { return t.state == NaiveState::kPending; });
}

bool NaiveRow::is_group(NaiveOrder order) const {
  return order != 0 && std::any_of(targets.begin(), targets.end(),
                                   [&](const NaiveTarget& t) { return t.newest == order || t.released == order; });
}

NaiveOrder NaiveRow::newest() const {
  return std::max_element(targets.begin(), targets.end(),
                          [](const NaiveTarget& a, const NaiveTarget& b) { return older(a.newest, b.newest); })
      ->newest;
}

Row real_row(const NaiveRow& row) {
  Row real;
  for (NaiveOrder order = kHighestInRows; order >= 1; --order) {
    if (!row.is_group(order)) continue;
    Group group;
    group.order = real_order(order);
    group.requested = row.was_requested[static_cast<std::size_t>(order)];
    for (std::uint8_t i = 0; i < kNaiveTargets; ++i) {
      const NaiveTarget& t = row.targets[i];
      const TargetSet bit = TargetSet::of(TargetNumber(i));
      if (t.newest == order && t.state == NaiveState::kPending) group.pending |= bit;
      if (t.newest == order && t.state == NaiveState::kRemoved) group.removed |= bit;
      if (t.released == order) group.served |= bit;
    }
    real.groups.push_back(group);
  }
  if (row.barrier != 0) real.barrier = real_order(row.barrier);
  if (row.requested != 0)
    real.requested = Requested{real_order(row.requested), Offset(7), PayloadHash(1), {}, kNaiveContent};
  return real;
}

std::array<NaiveTarget, kNaiveTargets> targets_of(const Row& row) {
  std::array<NaiveTarget, kNaiveTargets> targets;
  for (const NaiveOrder order : {4, 5, 3, 2, 6, 1}) {
    for (const Group& group : row.groups) {
      if (group.order != real_order(order)) continue;
      for (std::uint8_t i = 0; i < kNaiveTargets; ++i) {
        NaiveTarget& t = targets[i];
        const TargetNumber number(i);
        if (t.newest == 0 && group.known().contains(number)) {
          t.newest = order;
          t.state = group.pending.contains(number)  ? NaiveState::kPending
                    : group.served.contains(number) ? NaiveState::kServed
                                                    : NaiveState::kRemoved;
        }
        if (group.served.contains(number)) t.released = order;
      }
    }
  }
  return targets;
}

void for_each_row(bool request_marks, const std::function<void(const NaiveRow&)>& visit) {
  for (const NaiveTarget& first : all_targets())
    for (const NaiveTarget& second : all_targets()) {
      NaiveRow row;
      row.was_requested.fill(false);
      row.targets = {first, second};
      for (row.barrier = 0; !older(row.newest(), row.barrier); ++row.barrier) {
        if (pending_below_barrier(row)) break;
        if (request_marks && row.exists())
          for_each_mark(row, visit);
        else
          visit(row);
      }
    }
}

}  // namespace reseq::engine
