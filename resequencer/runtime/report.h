// Report: what a worker tells of itself and its partitions at one moment, for metrics, health and queries. It is a
// copy: who reads it never waits for the worker, nor the worker for them.
// Thread rule: plain values; Board: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "changelog/restorer.h"
#include "model/ids.h"
#include "model/partition_state.h"
#include "runtime/survey.h"
#include "runtime/totals.h"

namespace reseq::runtime {

enum class Phase : unsigned char {
  kOpen,
  kOffsets,
  kHighWatermark,
  kRestore,
  kCompare,
  kBirth,
  kReady,
  kRunning,
  kParked
};
[[nodiscard]] std::string_view name_of(Phase phase);

// The inputs by name, in the order of kInputs.
inline constexpr std::array<const char*, 3> kInputNames = {"requests", "control", "commands"};

struct InputReport {
  Offset decided;             // next offset to decide
  Offset read;                // next offset to read
  std::optional<Offset> end;  // high watermark, as it came with what was fetched last
  bool paused = false;        // records wait to be decided, or we do not read on until something else has happened
  // Since when reading stands still below the end: somebody else's transaction is open. Set by Board.
  std::optional<Milliseconds> stalled_since;

  // Offsets to the end; nothing while that is not known.
  [[nodiscard]] std::optional<std::int64_t> lag() const {
    if (!end) return std::nullopt;
    return *end > decided ? end->value() - decided.value() : 0;
  }
};

struct PartitionReport {
  Partition partition;
  Phase phase = Phase::kOpen;
  std::string parked;  // the reason by name; empty = it is not
  std::string detail;  // of it
  std::uint64_t live = 0;
  std::uint64_t watermarks = 0;
  std::uint64_t generation = 0;
  std::uint64_t dirty_rows = 0;        // not in the copy on disk yet
  std::optional<Offset> position;      // of the changelog
  std::optional<Offset> checkpointed;  // likewise, of the copy on disk
  std::optional<store::Environment::Size> disk;
  UnixMs committed;  // when the last batch was decided that is committed
  PartitionState state;
  std::array<InputReport, 3> inputs;  // per kInputs
  OutcomeCounts outcomes;             // since this worker has the partition
  std::optional<changelog::Progress> restore;
  std::optional<Survey::Found> survey;
};

struct WorkerReport {
  std::int64_t worker = 0;
  UnixMs at;
  Milliseconds steady;
  bool connected = false;  // it has its clients, and the brokers know its producer
  bool member = false;     // the group has given it its partitions, which may be none
  bool clock_frozen = false;
  double bad_per_s = 0;
  Totals totals;
  std::vector<PartitionReport> partitions;
};

// What the report tells of a partition; null: the worker does not have it.
[[nodiscard]] const PartitionReport* find_partition(const WorkerReport& report, Partition partition);

// The newest report of each worker, and an older one to tell rates from.
class Board {
 public:
  explicit Board(std::size_t workers) : slots_(workers) {}

  // What a rate is told of: the last five to ten seconds.
  static constexpr Milliseconds kWindow{5'000};

  void publish(WorkerReport report);

  struct Seen {
    std::shared_ptr<const WorkerReport> now;
    std::shared_ptr<const WorkerReport> before;  // the same one, while there is no older one
  };
  // Of the workers that have published one.
  [[nodiscard]] std::vector<Seen> look() const;

 private:
  struct Slot {
    std::shared_ptr<const WorkerReport> now, next, before;
  };
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
};

}  // namespace reseq::runtime
