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

void Survey::note(const std::string& id, const Row& row, UnixMs now, Milliseconds starvation_after) {
  const bool starving = !starving_targets(row, now, starvation_after).empty();
  if (row.overdue) ++so_far_.overdue;
  if (starving) ++so_far_.starving;
  const auto since = waiting_since(row);
  if (!since) return;
  if (!so_far_.oldest || *since < *so_far_.oldest) so_far_.oldest = since;
  auto& longest = so_far_.longest;
  if (id.size() > kLongestIdBytes || (longest.size() == kLongestMax && *since >= longest.back().since)) return;
  if (longest.size() == kLongestMax) longest.pop_back();
  const auto place = std::upper_bound(longest.begin(), longest.end(), *since,
                                      [](UnixMs time, const Waiting& one) { return time < one.since; });
  longest.insert(place, {id, *since, row.overdue, starving});
}

void Survey::look(const store::PartitionStore& store, Milliseconds steady, UnixMs now, Milliseconds starvation_after) {
  const auto walked = store.documents(cursor_, {}, store::PartitionStore::Which::kLive, kPieceRows,
                                      [&](const std::string& id, const Row& row) {
                                        note(id, row, now, starvation_after);
                                        return true;
                                      });
  if (store.fault()) return;  // it is rebuilt next
  cursor_ = walked.cursor;
  if (!walked.ended) return;
  so_far_.at = now;
  found_ = std::exchange(so_far_, {});
  cursor_.clear();
  next_at_ = Milliseconds(steady.value() + kPause.value());
}

}  // namespace reseq::runtime
