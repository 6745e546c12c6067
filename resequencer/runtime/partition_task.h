// PartitionTask: one partition of this worker, from its takeover to its batches (DESIGN 7, "Takeover, in this order").
//
//   kOffsets      stable committed offsets of the inputs          -> kHighWatermark
//   kHighWatermark where the changelog ends now                    -> kRestore
//   kRestore      read it up to there                              -> kCompare
//   kCompare      vector of the meta row against the offsets       -> kReady | kBirth | kHighWatermark again | kParked
//   kBirth        fresh partition: the worker commits its birth    -> kReady
//   kReady        may be assigned to read                          -> kRunning
//   kParked       something needs a person; nothing is read or written; the reason is logged
//
// Before kOffsets the producer of the worker must have been initialised: that ended the transactions of its older self.
// Thread rule: one worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "changelog/restorer.h"
#include "runtime/application.h"
#include "runtime/clock.h"
#include "runtime/input_queue.h"
#include "store/partition_store.h"

namespace reseq::runtime {

enum class Phase : unsigned char { kOffsets, kHighWatermark, kRestore, kCompare, kBirth, kReady, kRunning, kParked };
[[nodiscard]] std::string_view name_of(Phase phase);

class PartitionTask {
 public:
  PartitionTask(const Application& application, const Clock& clock, Partition partition);

  // One step of the takeover: at most one call to Kafka. Nothing to do in kBirth, kReady, kRunning, kParked.
  void step(kafka::Consumer& consumer, changelog::Restorer& restorer);

  // Takes over again from what is committed in memory, because the outcome of a transaction is unknown.
  void restart(changelog::Restorer& restorer);

  void park(std::string reason);
  void run() { phase_ = Phase::kRunning; }

  // The birth was committed: `born` holds its rows, `changelog_next` is the changelog position behind them.
  void born(store::PartitionStore born, Offset changelog_next);
  // A transaction with `changes` of this partition was committed.
  void committed(std::span<const store::Change> changes, std::optional<Offset> changelog_next);
  // Forgets what was fetched but not decided, to read it again.
  void rewind();

  [[nodiscard]] Partition partition() const { return partition_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] const std::string& parked_reason() const { return parked_reason_; }
  [[nodiscard]] const store::PartitionStore& store() const { return store_; }
  [[nodiscard]] InputQueue& queue() { return queue_; }
  [[nodiscard]] const InputQueue& queue() const { return queue_; }
  // REQUIRES for the following: kReady or kRunning.
  [[nodiscard]] const PartitionSetting& setting() const { return *setting_; }
  [[nodiscard]] const TargetTable& targets() const { return targets_; }
  [[nodiscard]] bool targets_grew() const { return targets_grew_; }
  [[nodiscard]] const std::vector<Generation>& lineage() const { return lineage_; }
  // REQUIRES: kBirth. First offsets of the inputs' logs.
  [[nodiscard]] const std::vector<InputPosition>& birth_positions() const { return offsets_; }
  [[nodiscard]] Offset restore_target() const { return restore_target_; }

  unsigned aborts_alone = 0;  // aborted transactions that held this partition only, since its last commit

 private:
  void ask_offsets(kafka::Consumer& consumer);
  void aim(changelog::Restorer& restorer);
  void watch_restore(changelog::Restorer& restorer);
  void compare(kafka::Consumer& consumer, changelog::Restorer& restorer);
  void prepare_birth(kafka::Consumer& consumer, changelog::Restorer& restorer);
  void resume(const std::vector<InputPosition>& positions, changelog::Restorer& restorer);
  [[nodiscard]] std::optional<std::string> refusal() const;
  void log_waiting(std::string_view what);

  const Application& application_;
  const Clock& clock_;
  Partition partition_;
  Phase phase_ = Phase::kOffsets;
  std::string parked_reason_;

  store::PartitionStore store_;
  std::optional<Offset> applied_;  // next changelog offset behind what store_ holds
  std::vector<InputPosition> offsets_;
  Offset restore_target_;
  Milliseconds behind_since_;
  Milliseconds logged_at_;
  Milliseconds started_at_;

  InputQueue queue_;
  std::optional<PartitionSetting> setting_;
  TargetTable targets_;
  bool targets_grew_ = false;
  std::vector<Generation> lineage_;
};

}  // namespace reseq::runtime
