// Worker: a member of the group with its own consumer and transactional producer, and the partitions the group gave it.
// It is one duty cycle: step() does one bounded piece of work.
//
//   no producer  ->  open and initialise one; what was in doubt is over then
//   checkpoint   ->  write the memory of one partition to its copy on disk, every second time at most; or a piece of
//                    a copy to a file without free pages
//   idle         ->  read what has arrived, move takeovers on, ask for ends, start a transaction
//   transaction  ->  its next step
//
// Invariants: nothing is polled from the consumer while a transaction is open, so partitions are never taken away in
// the middle of one; only partitions of the current assignment are in a transaction. Thread rule: one thread.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "changelog/restorer.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/takeover/rivals.h"
#include "runtime/takeover/shelf.h"
#include "runtime/takeover/takeover_questions.h"
#include "runtime/worker/marker_pause.h"
#include "runtime/worker/pace.h"
#include "runtime/worker/partition_task.h"
#include "runtime/worker/reference_reader.h"
#include "runtime/worker/report.h"
#include "runtime/worker/totals.h"
#include "runtime/worker/transaction.h"
#include "runtime/worker/trusted_clock.h"

namespace reseq::runtime {

class Worker {
 public:
  // REQUIRES: application, cluster, clock and shelf outlive the worker. `draw_key` draws the random key of a new
  // partition.
  Worker(const Application& application, kafka::Cluster& cluster, const Clock& clock, Shelf& shelf,
         std::function<HashKey()> draw_key);
  ~Worker();

  // One piece of work. An error ends the worker: it names what a person must do.
  Result<> step();

  // Finishes or gives up the open transaction and leaves. States go back to the shelf.
  void close(Milliseconds limit);

  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] const std::vector<std::unique_ptr<PartitionTask>>& tasks() const { return tasks_; }
  [[nodiscard]] const Transaction* transaction() const { return transaction_.get(); }
  // What others may know of it, at this moment.
  [[nodiscard]] WorkerReport report() const;
  [[nodiscard]] PartitionReport report_of(const PartitionTask& task) const;

 private:
  Result<> open_clients();
  Result<> open_reader();
  bool checkpoint_one();
  [[nodiscard]] PartitionTask* checkpoint_due();
  bool compact_one();
  [[nodiscard]] PartitionTask* compaction_due();
  Result<> idle(bool after_checkpoint);
  Result<bool> gather(bool at_once);
  std::uint64_t accept(kafka::Record&& record);
  void reached(const kafka::EndOfLog& end);
  void cannot_read(const kafka::PartitionFailure& failure);
  [[nodiscard]] bool is_beyond_log(PartitionTask& owner, Role role, const std::string& detail);
  [[nodiscard]] bool is_cut_off(PartitionTask& owner, Role role);
  void drop_pins_behind_begins();
  void assigned(kafka::Assigned assignment);
  void revoked(const kafka::Revoked& revocation);
  void forget_assignment();
  Result<> replace_consumer(const Error& error);
  Result<> move_takeovers();
  Result<bool> read_changelogs();
  Result<> step_takeovers();
  bool let_ready_wait();
  void assign_ready();
  void read_from_positions();
  void ask_ends();
  enum class End : std::uint8_t { kStable, kHighWatermark };
  std::vector<kafka::TopicPartitionOffset> ends_of(const std::vector<kafka::TopicPartition>& which, End end);
  void throttle_commands();
  void serve_clients();
  void log_progress();
  void log_restores();
  void log_backlog();
  void hold_full();
  void follow_pauses();
  void follow_waits();
  void look_at_clock();
  void start_transaction();
  [[nodiscard]] std::vector<Participant> participants();
  [[nodiscard]] std::vector<Participant> share(std::vector<Participant> ready);
  void settle_abort(const Transaction& aborted);
  void decide_again(const Transaction& undone);
  void rebuild_faulty();
  Result<> settle_transaction();
  void recycle(bool take_over_again);
  Result<> note_fenced();
  [[nodiscard]] Error same_name() const;
  void count(const Transaction& done);
  void count(const PartitionBatch& batch, UnixMs committed);
  void survey_one();
  [[nodiscard]] std::vector<WaitingForTarget> waiting_of(const PartitionTask& task) const;
  [[nodiscard]] PartitionTask* task(Partition partition);
  [[nodiscard]] bool taking_over() const;
  [[nodiscard]] bool held(Partition partition) const;
  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] Milliseconds idle_wait();
  [[nodiscard]] bool busy() const;
  [[nodiscard]] bool full(std::size_t records, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t waiting_bytes() const;
  [[nodiscard]] std::size_t waiting_records() const;

  const Application& application_;
  kafka::Cluster& cluster_;
  TrustedClock clock_;
  Shelf& shelf_;
  std::function<HashKey()> draw_key_;

  std::unique_ptr<kafka::Producer> producer_;  // initialised, or empty
  std::unique_ptr<kafka::Producer> opening_;   // not initialised yet
  std::string init_error_;                     // of the last init, which is told once
  std::unique_ptr<kafka::Consumer> consumer_;
  std::unique_ptr<kafka::LogReader> reader_;
  std::unique_ptr<changelog::Restorer> restorer_;

  std::shared_ptr<const kafka::GroupMetadata> group_;
  ReferenceReader reference_reader_;
  std::vector<std::unique_ptr<PartitionTask>> tasks_;  // of the current assignment, by partition
  std::vector<Partition> throttled_;                   // commands not read until requests have caught up
  std::vector<Partition> held_;                        // not read at all: their memory is full
  std::unique_ptr<Transaction> transaction_;
  unsigned aborts_in_a_row_ = 0;  // of transactions that partitions share
  Partition first_in_turn_{0};
  std::size_t next_alone_ = 0;
  bool turn_of_isolated_ = false;
  std::optional<UnixMs> next_date_;  // something of a partition's agenda is due, while nothing else comes
  TakeoverQuestions questions_;
  std::size_t next_takeover_ = 0;
  std::size_t next_checkpoint_ = 0;
  bool checkpointed_ = false;                // by the last step, or compacted
  Milliseconds compact_at_;                  // not before: what else there is gets its share of the time
  std::optional<Milliseconds> ready_since_;  // of partitions that wait to be read together
  Milliseconds retry_at_;
  MarkerPause marker_pause_;
  Rivals rivals_;
  std::optional<Milliseconds> consumer_lost_at_;
  std::optional<UnixMs> deadlines_at_;  // of this step; nothing while the clock is frozen
  bool clock_frozen_ = false;
  CatchUp catch_up_;
  Pace restore_pace_;
  std::vector<Partition> restoring_;  // at the last look, by partition
  Milliseconds progress_logged_at_;
  Milliseconds reader_retry_at_;  // the changelog cannot be read before
  Milliseconds clients_served_at_;
  Milliseconds surveyed_at_;
  std::size_t next_survey_ = 0;
  Totals totals_;
  BreakerLog breaker_log_;
};

}  // namespace reseq::runtime
