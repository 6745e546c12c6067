#include "runtime/survey.h"

#include <algorithm>
#include <utility>

namespace reseq::runtime {

std::optional<UnixMs> waiting_since(const Row& row) {
  std::optional<UnixMs> oldest;
  for (const Since& since : row.since)
    if (!oldest || since.first_registered < *oldest) oldest = since.first_registered;
  return oldest;
}

TargetSet starving_targets(const Row& row, UnixMs now, Milliseconds starvation_after) {
  TargetSet starving;
  if (starvation_after <= Milliseconds()) return starving;
  for (const Since& since : row.since)
    if (now.value() - since.first_registered.value() >= starvation_after.value()) starving |= since.targets;
  return starving & row.pending();
}

void Survey::look(const store::PartitionStore& store, Milliseconds steady, UnixMs now, Milliseconds starvation_after) {
  const auto note = [&](const std::string&, const Row& row) {
    if (row.overdue) ++so_far_.overdue;
    if (!starving_targets(row, now, starvation_after).empty()) ++so_far_.starving;
    const auto since = waiting_since(row);
    if (since && (!so_far_.oldest || *since < *so_far_.oldest)) so_far_.oldest = since;
    return true;
  };
  const auto walked = store.documents(cursor_, {}, store::PartitionStore::Which::kLive, kPieceRows, note);
  if (store.fault()) return;  // it is rebuilt next
  cursor_ = walked.cursor;
  if (!walked.ended) return;
  so_far_.at = now;
  found_ = std::exchange(so_far_, {});
  cursor_.clear();
  next_at_ = Milliseconds(steady.value() + kPause.value());
}

}  // namespace reseq::runtime
