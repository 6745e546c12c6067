#include "runtime/report.h"

#include <algorithm>
#include <array>
#include <utility>

namespace reseq::runtime {

namespace {

// Nothing was read since the report before although there is more in the log.
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

}  // namespace

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, 9> kNames = {"open",  "offsets", "high_watermark", "restore", "compare",
                                                             "birth", "ready",   "running",        "parked"};
  return kNames[static_cast<std::size_t>(phase)];
}

const PartitionReport* find_partition(const WorkerReport& report, Partition partition) {
  const auto found = std::find_if(report.partitions.begin(), report.partitions.end(),
                                  [&](const PartitionReport& one) { return one.partition == partition; });
  return found == report.partitions.end() ? nullptr : &*found;
}

void Board::publish(WorkerReport report) {
  const auto number = static_cast<std::size_t>(report.worker);
  // The worker is the only one that writes its slot: what it reads of it without the lock nobody changes.
  Slot& slot = slots_[number];
  if (slot.now) note_stalls(report, *slot.now);
  const auto made = std::make_shared<const WorkerReport>(std::move(report));
  const std::lock_guard lock(mutex_);
  slot.now = made;
  if (slot.next && made->steady.value() - slot.next->steady.value() < kWindow.value()) return;
  slot.before = std::exchange(slot.next, made);
}

std::vector<Board::Seen> Board::look() const {
  std::vector<Seen> seen;
  const std::lock_guard lock(mutex_);
  for (const Slot& slot : slots_)
    if (slot.now) seen.push_back({slot.now, slot.before ? slot.before : slot.next});
  return seen;
}

}  // namespace reseq::runtime
