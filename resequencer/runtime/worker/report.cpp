#include "runtime/worker/report.h"

#include <algorithm>
#include <utility>

namespace reseq::runtime {

namespace {

// Nothing was read since the report before although there is more in the log. Between two that follow each other at
// once, because somebody asked, nothing need have been.
void note_stalls(WorkerReport& report, const WorkerReport& before) {
  for (PartitionReport& partition : report.partitions) {
    const PartitionReport* then = find_partition(before, partition.partition);
    if (then == nullptr || partition.phase != Phase::kRunning || then->phase != Phase::kRunning) continue;
    for (std::size_t i = 0; i < partition.inputs.size(); ++i) {
      InputReport& input = partition.inputs[i];
      const InputReport& last = then->inputs[i];
      if (input.paused || last.paused || !input.end || *input.end <= input.read || input.read != last.read ||
          !last.end || *last.end <= last.read)
        continue;
      input.stalled_since = last.stalled_since.value_or(before.steady);
    }
  }
}

void note_quiet(WorkerReport& report, const WorkerReport* before) {
  const std::vector<std::uint64_t>& now = report.totals.outputs;
  report.quiet_since.assign(now.size(), report.steady);
  if (before == nullptr || before->quiet_since.size() != now.size()) return;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] == before->totals.outputs[i]) report.quiet_since[i] = before->quiet_since[i];
}

}  // namespace

const PartitionReport* find_partition(const WorkerReport& report, Partition partition) {
  const auto found = std::find_if(report.partitions.begin(), report.partitions.end(),
                                  [&](const PartitionReport& one) { return one.partition == partition; });
  return found == report.partitions.end() ? nullptr : &*found;
}

void Board::publish(WorkerReport report) {
  const auto number = static_cast<std::size_t>(report.worker);
  // The worker is the only one that writes its slot: what it reads of it without the lock nobody changes.
  Slot& slot = slots_[number];
  const bool in_turn = !slot.in_turn || report.steady.value() - slot.in_turn->steady.value() >= kEvery.value();
  const auto& reference = in_turn ? slot.in_turn : slot.turn_before;
  if (reference) note_stalls(report, *reference);
  note_quiet(report, slot.now.get());
  const auto made = std::make_shared<const WorkerReport>(std::move(report));
  if (in_turn) slot.turn_before = std::exchange(slot.in_turn, made);
  const std::lock_guard lock(mutex_);
  slot.now = made;
  slot.moved = std::max(slot.moved, made->steady);
  if (slot.next && made->steady.value() - slot.next->steady.value() < kWindow.value()) return;
  slot.before = std::exchange(slot.next, made);
}

void Board::moves(std::size_t worker, Milliseconds steady) {
  const std::lock_guard lock(mutex_);
  slots_[worker].moved = std::max(slots_[worker].moved, steady);
}

bool Board::answered(std::uint64_t question) const {
  const std::lock_guard lock(mutex_);
  return std::all_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return !slot.now || slot.now->answers >= question; });
}

std::vector<Board::Seen> Board::look() const {
  std::vector<Seen> seen;
  const std::lock_guard lock(mutex_);
  for (const Slot& slot : slots_)
    if (slot.now) seen.push_back({slot.now, slot.before ? slot.before : slot.next, slot.moved});
  return seen;
}

}  // namespace reseq::runtime
