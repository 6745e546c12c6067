#include "runtime/worker/survey.h"

#include <algorithm>
#include <utility>

#include "engine/failures/breakers.h"
#include "engine/journal/entries.h"
#include "engine/journal/rank.h"
#include "engine/standing.h"

namespace reseq::runtime {

using Which = store::PartitionStore::Which;

TargetSet starving_targets(const Row& row, UnixMs now, Milliseconds starvation_after) {
  TargetSet starving;
  if (row.overtaken.empty() || starvation_after <= Milliseconds()) return starving;
  for (const TargetNumber target : engine::without_release_for(row, now, starvation_after))
    if (row.overtaken_of(target) != nullptr) starving |= TargetSet::of(target);
  return starving;
}

bool is_order_stuck(const JournalEntry& entry, const engine::DispatchRules& dispatch) {
  return entry.state != EntryState::kGone && engine::is_stuck(entry, dispatch);
}

bool is_document_stuck(const Row& row, const engine::DispatchRules& dispatch) {
  return std::any_of(row.journal.begin(), row.journal.end(),
                     [&](const JournalEntry& entry) { return is_order_stuck(entry, dispatch); });
}

std::uint64_t documents_under_way(std::span<const PriorityCount> priorities) {
  std::uint64_t documents = 0;
  for (const PriorityCount& one : priorities) documents += one.processing;
  return documents;
}

UnixMs due_of(const JournalEntry& entry, const engine::DispatchRules& dispatch) {
  return engine::rank_of(entry, dispatch).process_at;
}

Obstacle obstacle_of(const Row& row, const JournalEntry& entry, UnixMs now, const engine::DispatchRules& dispatch,
                     std::span<const PriorityCount> priorities, const std::vector<Breaker>& breakers) {
  if (due_of(entry, dispatch) > now) return Obstacle::kDate;
  if (engine::is_blocked(row, entry, dispatch)) return Obstacle::kOlderOrder;
  const bool down = engine::has_breakers(dispatch) && engine::open_targets(breakers).covers(entry.targets);
  if (down && !engine::is_timed_out(entry, dispatch)) return Obstacle::kTarget;
  if (!dispatch.journal) return Obstacle::kTurn;
  const std::uint8_t priority = entry.urgency.priority;
  if (priority >= dispatch.idle_from_priority)
    for (const PriorityCount& one : priorities)
      if (one.priority < priority && one.processing > 0) return Obstacle::kIdle;
  const bool has_room = documents_under_way(priorities) < dispatch.in_flight_max || row.processing();
  return has_room ? Obstacle::kTurn : Obstacle::kRoom;
}

void Survey::note_journal(const Row& row, UnixMs now, const engine::DispatchRules& dispatch) {
  if (is_document_stuck(row, dispatch)) ++so_far_.stuck;
  for (const JournalEntry& entry : row.journal) {
    const UnixMs since = due_of(entry, dispatch);
    if (entry.state != EntryState::kWaiting || since > now) continue;
    std::vector<Due>& due = so_far_.due;
    const auto is_before = [](const Due& one, std::uint8_t priority) { return one.priority < priority; };
    const auto at = std::lower_bound(due.begin(), due.end(), entry.urgency.priority, is_before);
    if (at == due.end() || at->priority != entry.urgency.priority)
      due.insert(at, {entry.urgency.priority, since});
    else
      at->since = std::min(at->since, since);
  }
}

void Survey::note_targets(const Row& row, UnixMs now) {
  const TargetSet pending = row.pending();
  const TargetSet overdue = engine::overdue_targets(row, now);
  const auto found_for = [this](TargetNumber target) -> ForTarget& {
    if (so_far_.targets.size() <= target.value()) so_far_.targets.resize(target.value() + std::size_t{1});
    return so_far_.targets[target.value()];
  };
  for (const TargetNumber number : pending) {
    ForTarget& target = found_for(number);
    ++target.waiting;
    if (overdue.contains(number)) ++target.overdue;
  }
  for (const Since& since : row.since) {
    const TargetSet waiting = since.targets & pending;
    for (const TargetNumber number : waiting) {
      ForTarget& target = found_for(number);
      if (!target.oldest || since.first_registered < *target.oldest) target.oldest = since.first_registered;
    }
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

void Survey::note_failures(const std::string& id, const Row& row) {
  if (!failures_so_far_) failures_so_far_.emplace();
  failures_so_far_->note(id, row);
}

void Survey::look(const store::PartitionStore& store, Milliseconds steady, UnixMs now, Milliseconds starvation_after,
                  const engine::DispatchRules& dispatch) {
  // What failed for good, or lost too many leases, waits for nothing. To decode what does makes a piece take twice as
  // long.
  const Which which = dispatch.failures || dispatch.journal ? Which::kAll : Which::kLive;
  const auto walked = store.documents(cursor_, {}, which, kPieceRows, [&](const std::string& id, const Row& row) {
    if (!row.failures.empty()) note_failures(id, row);
    if (!row.live()) return true;
    note(id, row, now, starvation_after);
    if (!row.journal.empty()) note_journal(row, now, dispatch);
    return true;
  });
  if (store.fault()) return;  // it is rebuilt next
  cursor_ = walked.cursor;
  if (!walked.ended) return;
  so_far_.at = now;
  if (failures_so_far_) so_far_.failures = std::make_shared<const FailureGroups>(std::move(*failures_so_far_));
  failures_so_far_.reset();
  found_ = std::exchange(so_far_, {});
  cursor_.clear();
  next_at_ = Milliseconds(steady.value() + kPause.value());
}

}  // namespace reseq::runtime
