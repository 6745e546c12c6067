// Report: what a worker tells of itself and its partitions at one moment, for metrics, health and queries. It is a
// copy: who reads it never waits for the worker, nor the worker for them.
// Thread rule: plain values; Board: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "changelog/restorer.h"
#include "model/ids.h"
#include "model/partition_state.h"
#include "runtime/takeover/phase.h"
#include "runtime/worker/breaker_log.h"
#include "runtime/worker/lane_survey.h"
#include "runtime/worker/survey.h"
#include "runtime/worker/totals.h"

namespace reseq::runtime {

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

// What waits for one target, as the survey has found it.
struct WaitingForTarget {
  std::size_t target = 0;  // its place in the settings
  Survey::ForTarget found;
};

// A target that cannot be reached.
struct TargetDown {
  std::string target;
  Breaker breaker;
};

struct PartitionReport {
  Partition partition;
  Phase phase = Phase::kOpen;
  std::string parked;  // the reason by name; empty = it is not
  std::string detail;  // of it
  std::string first_step;
  std::string checkpoint_error;  // of the last one, which failed; empty = it did not
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
  std::uint64_t only_older = 0;           // documents, see OlderRequests
  std::vector<WaitingForTarget> targets;  // those that a document waits for
  std::vector<TargetDown> targets_down;
  // Documents that wait for their dispatch, and those that are under way since; and what is held of them.
  std::vector<PriorityCount> priorities;
  std::uint64_t held_records = 0;
  std::uint64_t held_bytes = 0;
  bool requests_stopped = false;                   // PartitionTask::requests_stopped()
  std::uint64_t places = 0;                        // in lanes of ordered targets
  std::uint64_t places_queued = 0;                 // of these, behind lane_in_flight_max
  std::optional<LaneHead> lane_head;               // of what they wait for, the first that will be skipped
  std::shared_ptr<const LaneSurvey::Found> lanes;  // null: there are none, or nobody has looked yet
};

struct WorkerReport {
  std::int64_t worker = 0;
  // The newest question (Board::ask) that it answers: whatever was committed before that was asked is in it.
  std::uint64_t answers = 0;
  UnixMs at;
  Milliseconds steady;
  bool connected = false;  // it has its clients, and the brokers know its producer
  bool member = false;     // the group has given it its partitions, which may be none
  bool clock_frozen = false;
  double bad_per_s = 0;
  Totals totals;
  // Since when nothing more was written to each topic, or since the worker began; by topic index. Set by Board, from
  // report to report, so that nothing is counted for it.
  std::vector<Milliseconds> quiet_since;
  std::vector<PartitionReport> partitions;
  std::vector<BreakerChange> breaker_changes;  // since the process began, oldest first
};

// What the report tells of a partition; null: the worker does not have it.
[[nodiscard]] const PartitionReport* find_partition(const WorkerReport& report, Partition partition);

// The newest report of each worker, and an older one to tell rates from.
class Board {
 public:
  explicit Board(std::size_t workers) : slots_(workers) {}

  // How often a worker tells of itself when nobody asks.
  static constexpr Milliseconds kEvery{500};
  // What a rate is told of: the last five to ten seconds.
  static constexpr Milliseconds kWindow{5'000};

  void publish(WorkerReport report);

  // A worker has begun a step, or goes on in a long one, at this time.
  void moves(std::size_t worker, Milliseconds steady);

  // Asks all workers for a report of now: each makes one as soon as no transaction of it is on its way. The number of
  // the question.
  std::uint64_t ask() { return ++asked_; }
  [[nodiscard]] std::uint64_t asked() const { return asked_; }
  // Whether every worker that has ever told has answered this one.
  [[nodiscard]] bool answered(std::uint64_t question) const;

  struct Seen {
    std::shared_ptr<const WorkerReport> now;
    std::shared_ptr<const WorkerReport> before;  // the same one, while there is no older one
    Milliseconds moved;                          // when it was last seen to go on
  };
  // Of the workers that have published one.
  [[nodiscard]] std::vector<Seen> look() const;

 private:
  struct Slot {
    std::shared_ptr<const WorkerReport> now, next, before;
    Milliseconds moved;
    std::shared_ptr<const WorkerReport> in_turn, turn_before;  // of those that came at least kEvery one after the other
  };
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::atomic<std::uint64_t> asked_ = 0;
};

}  // namespace reseq::runtime
