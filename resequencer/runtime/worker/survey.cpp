#include "runtime/worker/survey.h"

#include <algorithm>
#include <utility>

#include "engine/standing.h"

namespace reseq::runtime {

TargetSet starving_targets(const Row& row, UnixMs now, Milliseconds starvation_after) {
  TargetSet starving;
  if (row.overtaken.empty() || starvation_after <= Milliseconds()) return starving;
  TargetSet left = engine::without_release_for(row, now, starvation_after);
  for (; !left.empty(); left = left.without(TargetSet::of(left.first())))
    if (row.overtaken_of(left.first()) != nullptr) starving |= TargetSet::of(left.first());
  return starving;
}

void Survey::note_targets(const Row& row, UnixMs now) {
  const TargetSet pending = row.pending();
  const TargetSet overdue = engine::overdue_targets(row, now);
  const auto found_for = [this](TargetNumber target) -> ForTarget& {
    if (so_far_.targets.size() <= target.value()) so_far_.targets.resize(target.value() + std::size_t{1});
    return so_far_.targets[target.value()];
  };
  for (TargetSet left = pending; !left.empty(); left = left.without(TargetSet::of(left.first()))) {
    ForTarget& target = found_for(left.first());
    ++target.waiting;
    if (overdue.contains(left.first())) ++target.overdue;
  }
  for (const Since& since : row.since)
    for (TargetSet left = since.targets & pending; !left.empty(); left = left.without(TargetSet::of(left.first()))) {
      ForTarget& target = found_for(left.first());
      if (!target.oldest || since.first_registered < *target.oldest) target.oldest = since.first_registered;
    }
}

void Survey::note(const std::string& id, const Row& row, UnixMs now, Milliseconds starvation_after) {
  const bool starving = !starving_targets(row, now, starvation_after).empty();
  note_targets(row, now);
  if (row.overdue) ++so_far_.overdue;
  if (starving) ++so_far_.starving;
  const auto since = row.without_release_since();
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
