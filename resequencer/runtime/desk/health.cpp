#include "runtime/desk/health.h"

#include <algorithm>
#include <cstdint>

#include "admin/document_json.h"

namespace reseq::runtime {

namespace {

void note(Health& health, bool good, const std::string& what) {
  health.good = health.good && good;
  health.lines += (good ? "ok  " : "no  ") + what + "\n";
}

std::string text_of(const PartitionReport& partition) {
  std::string text = "partition " + std::to_string(partition.partition.value()) + " ";
  text += name_of(partition.phase);
  if (partition.state.paused) text += " paused";
  if (partition.requests_stopped) text += " requests stopped: more than held_bytes_max of results is held";
  if (!partition.parked.empty()) text += " " + partition.parked;
  if (partition.restore) {
    const std::int64_t left = partition.restore->target.value() - partition.restore->position.value();
    text += " " + std::to_string(std::max<std::int64_t>(0, left)) + " offsets left";
  }
  return text;
}

}  // namespace

Health liveness(const std::vector<Board::Seen>& seen, Milliseconds steady, Milliseconds stuck_after) {
  Health health;
  for (const Board::Seen& worker : seen) {
    const std::int64_t age = steady.value() - worker.moved.value();
    note(health, age < stuck_after.value(),
         "worker " + std::to_string(worker.now->worker) + " went on " + std::to_string(age / 1000) + " s ago");
  }
  return health;
}

Health readiness(const std::vector<Board::Seen>& seen, std::size_t workers, std::optional<UnixMs> brokers_away) {
  Health health;
  if (brokers_away) note(health, false, "brokers do not answer since " + admin::time_text(*brokers_away));
  for (const Board::Seen& one : seen) {
    const WorkerReport& worker = *one.now;
    const std::string name = "worker " + std::to_string(worker.worker);
    if (!worker.connected) {
      note(health, false, name + " waits for brokers");
    } else {
      note(health, worker.member, name + (worker.member ? " is a member of the group" : " waits for the group"));
    }
    if (worker.clock_frozen) note(health, false, name + " does not believe the clock");
    for (const PartitionReport& partition : worker.partitions)
      note(health, partition.phase == Phase::kRunning, text_of(partition));
  }
  if (seen.size() < workers)
    note(health, false,
         std::to_string(workers - seen.size()) + " of " + std::to_string(workers) + " workers have not begun");
  return health;
}

}  // namespace reseq::runtime
