// PartitionBatch: what one partition brings into a transaction: its inputs decided, and everything to produce, encoded.
// Pure apart from the queue it reads: nothing leaves, nothing is applied.
// Thread rule: one worker; lives as long as its transaction, bytes live in its arena and in the queue.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "driver/batch_driver.h"
#include "runtime/application/wiring.h"
#include "runtime/worker/breaker_log.h"
#include "runtime/worker/partition_task.h"
#include "store/batch_view.h"

namespace reseq::runtime {

struct LanesDone {
  std::int64_t released = 0;  // results that were held
  std::int64_t gaps = 0;      // places that were skipped
  std::int64_t letters = 0;   // results that were held, and that their outputs do not take any more
};

class PartitionBatch {
 public:
  // `deadlines_at`: the time by which timers and watermarks are judged, nothing while the clock is not trusted. `left`:
  // what a gate may let through in the transaction. REQUIRES: task is kRunning with something to do, or kBirth; left
  // outlives it.
  PartitionBatch(const Application& application, PartitionTask& task, UnixMs now, std::optional<UnixMs> deadlines_at,
                 engine::BytesLeft& left);

  // Decides what waits in the queue, then the chores. A command that must wait for requests ends the inputs.
  void decide();
  // Has something to commit even if it is empty otherwise.
  void write_heartbeat() { heartbeat_ = true; }
  // Encodes outputs, rows and the meta row.
  void encode();
  // Instead of both, for a fresh partition: identity, target table, meta row, explicit offsets.
  void give_birth(const HashKey& key);

  [[nodiscard]] PartitionTask& task() const { return task_; }
  [[nodiscard]] bool empty() const {
    return inputs_ == 0 && !birth_ && !heartbeat_ && batch().changes().empty() && batch().row_changes().empty() &&
           batch().holds().empty();
  }
  [[nodiscard]] bool birth() const { return birth_; }
  // Policy on_missing = stop met this command: the process ends once what stands before it is committed.
  [[nodiscard]] std::optional<Offset> stopped_at() const { return stopped_at_; }
  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t inputs(std::size_t role) const { return taken_[role]; }  // per kInputs
  [[nodiscard]] std::size_t timers() const { return driver_ ? driver_->became_overdue() : 0; }
  [[nodiscard]] std::size_t expired() const { return expired_; }
  [[nodiscard]] std::vector<Offset> gone() const;

  [[nodiscard]] const std::vector<Outgoing>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<store::Change>& rows() const { return rows_; }  // meta row last
  // Next offsets of all inputs, even unchanged ones: an idle zombie must be fenced by them.
  [[nodiscard]] const std::vector<InputPosition>& positions() const { return positions_; }
  // REQUIRES for the following: no birth.
  [[nodiscard]] std::span<const Decision> decisions() const { return batch().decisions(); }
  [[nodiscard]] UnixMs timestamp(std::size_t input) const { return records_[input].timestamp; }
  [[nodiscard]] std::span<const engine::LateResult> late_results() const { return batch().late_results(); }
  [[nodiscard]] std::size_t older_requests() const { return batch().older_requests().size(); }
  [[nodiscard]] UnixMs now() const { return now_; }
  // What lanes of ordered targets did with what had come before, or not at all.
  [[nodiscard]] LanesDone lanes_done() const;
  // Targets that could not be reached behind it, and could before, or the other way round.
  [[nodiscard]] const std::vector<BreakerChange>& breaker_changes() const { return breaker_changes_; }

  // The transaction is committed. `meta_offset` = of the meta row, as its delivery report said. The inputs are gone
  // afterwards: what is still asked of them must not be their bytes.
  void committed(Offset meta_offset, Milliseconds steady);
  // It is empty: nothing will be committed.
  void give_up();

 private:
  void decide_input(Role role);
  void read_held();
  void look_ahead(const std::vector<driver::GateTurn>& turns);
  void want_references();
  void settle_positions();
  void note_requests(OlderRequests& noted, Milliseconds steady) const;
  [[nodiscard]] std::vector<std::string> sweep();
  void append_meta(Meta meta);
  [[nodiscard]] std::uint64_t held_after() const;
  [[nodiscard]] std::vector<InputPin> pins() const;
  void add_event(const Event& event);
  [[nodiscard]] const engine::Batch& batch() const { return driver_->batch(); }

  const Application& application_;
  PartitionTask& task_;
  UnixMs now_;
  std::optional<UnixMs> deadlines_at_;
  engine::BytesLeft& left_;
  engine::Context context_;
  Arena arena_;
  store::BatchView view_;
  std::optional<driver::BatchDriver> driver_;
  std::array<std::size_t, 3> taken_{};       // per kInputs
  std::vector<codec::InputRecord> records_;  // inputs, then held records that are let through
  std::vector<kafka::Record*> sources_;      // of the inputs
  std::vector<Offset> again_;                // of references that are let through
  std::optional<NeededRecords> needed_;      // by turns that lack something, of these kinds
  std::vector<std::uint8_t> lacking_;
  std::size_t inputs_ = 0;
  std::size_t expired_ = 0;
  std::optional<Offset> stopped_at_;
  bool heartbeat_ = false;
  bool birth_ = false;
  std::string swept_from_;  // key range swept, both empty = none
  std::string swept_to_;
  std::optional<std::string> sweep_cursor_;  // where the next sweep begins, if this batch swept
  Summary after_;
  std::vector<BreakerChange> breaker_changes_;
  std::vector<Outgoing> outputs_;
  std::vector<store::Change> rows_;
  std::vector<InputPosition> positions_;
};

}  // namespace reseq::runtime
