// PartitionTask: one partition of this worker, from its takeover to its batches, in this order.
//
//   kOpen         its state from the shelf: parked warm, or the copy on disk   -> kOffsets
//   kOffsets      stable committed offsets of the inputs                       -> kHighWatermark
//   kHighWatermark where the changelog begins and ends; reuse or rebuild       -> kRestore
//   kRestore      read it up to there                                          -> kCompare
//   kCompare      vector of the meta row against the offsets -> kReady | kBirth | kHighWatermark again | kParked
//   kBirth        fresh partition: the worker commits its birth                -> kReady
//   kReady        may be assigned to read                                      -> kRunning
//   kParked       something needs a person; nothing is read or written; the reason is logged
//
// What a takeover has to ask the brokers is a Question, so that the worker asks for all its partitions together.
// Before kOffsets the producer of the worker must have been initialised: that ended the transactions of its older self.
// Thread rule: one worker.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "changelog/restorer.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/application/pinned_inputs.h"
#include "runtime/takeover/isolation.h"
#include "runtime/takeover/recovery.h"
#include "runtime/takeover/shelf.h"
#include "runtime/takeover/standstill.h"
#include "runtime/worker/chores.h"
#include "runtime/worker/input_queue.h"
#include "runtime/worker/older_requests.h"
#include "runtime/worker/referenced_records.h"
#include "runtime/worker/report.h"
#include "runtime/worker/survey.h"
#include "runtime/worker/totals.h"
#include "store/partition_store.h"

namespace reseq::runtime {

enum class Question : std::uint8_t {
  kNone,
  kOffsets,        // stable committed offsets of its inputs
  kChangelogEnds,  // where its changelog begins and ends
  kFirstOffsets,   // where its inputs begin, or end: at a birth
};

class PartitionTask {
 public:
  // REQUIRES: application, clock and shelf outlive the task.
  PartitionTask(const Application& application, const Clock& clock, Shelf& shelf, Partition partition);
  ~PartitionTask();  // gives the state back to the shelf
  PartitionTask(const PartitionTask&) = delete;
  PartitionTask& operator=(const PartitionTask&) = delete;

  // One step of the takeover. Nothing to do in kBirth, kReady, kRunning, kParked, and while a question is asked.
  void step(changelog::Restorer& restorer);

  // What has to be asked before the takeover can go on. It is answered by one of the following, or asked again.
  [[nodiscard]] Question question() const;
  void take_offsets(std::vector<InputPosition> committed);
  void take_ends(const changelog::LogEnds& ends, changelog::Restorer& restorer);
  void take_first_offsets(std::vector<InputPosition> first, changelog::Restorer& restorer);
  // Nobody can answer now: says so, now and then.
  void wait_for_answer(Waiting what, std::string_view detail) { log_waiting(what, detail); }
  void wait_before_next_step(Milliseconds pause);
  // The question about it alone was not answered, which kept the worker waiting: a second, then twice as long each
  // time, up to eight, until there is an answer.
  void wait_longer();

  // Takes over again from what is committed in memory, because the outcome of a transaction is unknown.
  void restart(changelog::Restorer& restorer);
  // The state does not fit the changelog, or cannot be read: forgets it and takes over again from the beginning of the
  // changelog. One that does not fit when it was just rebuilt is parked instead.
  void rebuild(Rebuild why, std::string_view detail, changelog::Restorer& restorer);
  void restore_failed(const changelog::Restorer::Failure& failure, changelog::Restorer& restorer);

  void park(Parked why, std::string detail);
  // Why this process must not have the partition: its configuration does not fit the state. The process has to end, so
  // that one with the right configuration gets it.
  [[nodiscard]] const std::optional<std::string>& refused() const { return refused_; }
  void run();

  // A transaction with `changes` of this partition was committed; `after` = what the store said it will be then. Its
  // birth, when there was nothing before.
  void committed(std::span<const store::Change> changes, const Summary& after, Offset changelog_next);
  // Forgets what was fetched but not decided, to read it again.
  void rewind();
  // Brokers refuse to let this input be read, for a reason that may pass: a permission, a version. Until it was read
  // again nothing else of the partition is read and nothing is decided, because the transaction would be refused as
  // well; it says so now and then. True: that is new.
  [[nodiscard]] bool cannot_read(Role role, const std::string& detail);
  // True: it could not be read before. It is left alone again until the others can be read, too, or all inputs are read
  // again: what is read meanwhile cannot be decided, and fills the room of other partitions.
  [[nodiscard]] bool has_read(Role role);
  [[nodiscard]] bool reading_refused() const { return !refusals_.empty(); }
  [[nodiscard]] bool reading_refused(Role role) const;
  // True: inputs that could not be read are to be tried again now.
  [[nodiscard]] bool try_to_read();
  // An operator paused the partition, as its last meta row says: nothing but operations is read and decided.
  // REQUIRES: kRunning.
  [[nodiscard]] bool paused() const { return store_->meta()->state.paused; }
  [[nodiscard]] bool something_to_decide() const {
    return paused() ? !queue_.records(Role::kControl).empty() : queue_.something_to_decide();
  }
  // True: it was paused or resumed since the last call, or since run(). What was fetched of a paused one is forgotten.
  [[nodiscard]] bool pause_changed();
  // Where this input is to be read from: at its pin, while that is not compared.
  [[nodiscard]] Offset read_from(Role role) const { return pins_.read_from(role, queue_.read(role)); }
  // What was read, before it is put into the queue. False: the input is another one than the state knows, and the
  // partition is parked.
  [[nodiscard]] bool is_known_log(Role role, const kafka::Record& record);
  [[nodiscard]] bool is_known_log(Role role, const kafka::EndOfLog& end);
  [[nodiscard]] bool has_pin(Role role) const { return pins_.pin(role) != nullptr; }
  // True: it was the pinned record that is out of reach, most likely by retention, so nothing is compared; what was not
  // decided may still be there.
  [[nodiscard]] bool gives_up_pin(Role role, const std::string& detail);
  // A damaged batch of this input is next. True: it was read so often that it will stay damaged.
  [[nodiscard]] bool damage_stays(Role role);
  // Memory should go to disk: enough rows or bytes changed, or enough time went by.
  [[nodiscard]] bool checkpoint_due() const;
  // It is due because of rows or bytes, so memory waits for it.
  [[nodiscard]] bool checkpoint_urgent() const;
  // Returns how many changed rows it wrote. kFatal: the copy cannot be used any more. Others: try again later.
  Result<std::size_t> checkpoint();
  // Changed rows that cannot go to disk fill the memory: nothing more may be decided until a checkpoint succeeds.
  [[nodiscard]] bool memory_full() const;

  [[nodiscard]] Partition partition() const { return partition_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] const std::string& parked_reason() const { return parked_reason_; }
  // Why the last checkpoint failed; empty: it did not.
  [[nodiscard]] const std::string& checkpoint_error() const { return checkpoint_error_; }
  [[nodiscard]] Parked parked() const { return parked_; }  // REQUIRES: kParked
  [[nodiscard]] bool has_store() const { return store_ != nullptr; }
  // What became of its inputs since this worker has it.
  void count(const OutcomeCounts& more) { outcomes_ += more; }
  [[nodiscard]] const OutcomeCounts& outcomes() const { return outcomes_; }
  [[nodiscard]] OlderRequests& older_requests() { return older_requests_; }
  [[nodiscard]] const OlderRequests& older_requests() const { return older_requests_; }
  [[nodiscard]] Survey& survey() { return survey_; }
  [[nodiscard]] const Survey& survey() const { return survey_; }
  // REQUIRES for the following: not kOpen.
  // Its state cannot be read any more, and nobody has begun to rebuild it.
  [[nodiscard]] bool faulty() const {
    return store_ != nullptr && !to_wipe_ && phase_ != Phase::kParked && store_->fault().has_value();
  }
  [[nodiscard]] const store::PartitionStore& store() const { return *store_; }
  // What of the gate's agenda can be done now, with the inputs decided up to `positions`.
  [[nodiscard]] std::vector<driver::GateTurn> turns(const std::vector<InputPosition>& positions, UnixMs now) const {
    std::vector<driver::GateTurn> turns = chores_.turns(*store_, positions, now);
    std::erase_if(turns, [this](const driver::GateTurn& turn) { return references_.waits(turn.kind); });
    return turns;
  }
  [[nodiscard]] ReferencedRecords& references() { return references_; }
  [[nodiscard]] const ReferencedRecords& references() const { return references_; }
  [[nodiscard]] Chores& chores() { return chores_; }
  [[nodiscard]] const Chores& chores() const { return chores_; }
  [[nodiscard]] InputQueue& queue() { return queue_; }
  [[nodiscard]] const InputQueue& queue() const { return queue_; }
  // REQUIRES for the following: kReady or kRunning.
  [[nodiscard]] const PartitionSetting& setting() const { return *setting_; }
  [[nodiscard]] const TargetTable& targets() const { return targets_; }
  [[nodiscard]] bool targets_grew() const { return targets_grew_; }
  [[nodiscard]] const std::vector<Generation>& lineage() const { return lineage_; }
  // No batch was committed since the takeover.
  [[nodiscard]] bool new_generation() const { return store_->meta()->lineage != lineage_; }
  // REQUIRES: kBirth. First offsets of the inputs' logs.
  [[nodiscard]] const std::vector<InputPosition>& birth_positions() const { return offsets_; }
  [[nodiscard]] Offset restore_target() const { return restore_target_; }
  // Why this takeover read the changelog from its beginning; kNone = it did not.
  [[nodiscard]] Rebuild rebuilt() const { return rebuilt_; }

  // A transaction with nothing but this partition was aborted, by an error that does not pass by itself. How many,
  // since its last commit.
  unsigned aborted_alone() { return ++aborts_alone_; }
  [[nodiscard]] Isolation& isolation() { return isolation_; }
  [[nodiscard]] const Isolation& isolation() const { return isolation_; }
  // Isolated, and its time has not come.
  [[nodiscard]] bool waits_alone() const { return isolation_.waits(clock_.steady()); }
  // The same, for who assigns what is read; it has to be assigned again when that changes.
  [[nodiscard]] bool is_left_out() { return left_out_ = waits_alone(); }
  [[nodiscard]] bool left_out_changed() const { return left_out_ != waits_alone(); }

 private:
  // Which targets documents wait for, as far as it was looked for.
  struct WaitedFor {
    std::optional<Offset> at;  // position of the changelog when that began
    std::string cursor;
    bool ended = false;
    TargetSet targets;
  };
  struct Refusal {
    Role role;
    std::string detail;
    Milliseconds since;
  };

  void open();
  void watch_restore(changelog::Restorer& restorer);
  void compare(changelog::Restorer& restorer);
  void compare_positions(changelog::Restorer& restorer);
  void resume(const std::vector<InputPosition>& positions, changelog::Restorer& restorer);
  void empty_store(Rebuild why, std::string_view detail);
  void wipe();
  void take_over_again();
  [[nodiscard]] bool choose_way(const changelog::LogEnds& log);
  [[nodiscard]] Rebuild distrust() const;
  void refuse(Parked why, const std::string& reason);
  [[nodiscard]] bool look_for_missing_target();
  [[nodiscard]] std::string difference() const;
  void log_way(const changelog::Progress& progress) const;
  void log_waiting(Waiting what, std::string_view detail);
  void log_refusal(const Refusal& refusal);
  void log_parked();
  [[nodiscard]] bool fits(const InputPin& pin, PinnedInputs::Judgement found);
  void remind();

  const Application& application_;
  const Clock& clock_;
  Shelf& shelf_;
  Partition partition_;
  Phase phase_ = Phase::kOpen;
  Parked parked_ = Parked::kCount;
  Isolation isolation_;
  unsigned aborts_alone_ = 0;
  bool left_out_ = false;
  std::string parked_reason_;
  Milliseconds parked_at_;
  std::optional<std::string> refused_;

  std::unique_ptr<store::PartitionStore> store_;
  bool from_disk_ = false;                // opened, and nothing read since
  bool to_wipe_ = false;                  // is to be emptied, which failed
  bool lost_rows_ = false;                // a copy with rows was thrown away
  std::optional<InputPosition> damaged_;  // where a damaged batch was met last, and how often
  unsigned damaged_times_ = 0;
  std::vector<Refusal> refusals_;  // inputs that could not be read when it was tried last
  Milliseconds try_to_read_at_;    // those again
  bool was_paused_ = false;
  bool to_be_born_ = false;   // when its first offsets are known
  bool asked_again_ = false;  // the offsets, because they were not those of the meta row
  WaitedFor waited_for_;
  unsigned rebuilds_ = 0;  // since it ran
  Rebuild rebuilt_ = Rebuild::kNone;
  std::optional<store::Checkpoint> from_;  // where the catching up began
  std::vector<InputPosition> offsets_;
  Offset restore_target_;
  Milliseconds behind_since_;
  Milliseconds logged_at_;
  Milliseconds started_at_;
  Milliseconds checkpointed_at_;
  Milliseconds checkpoint_retry_at_;  // not before: the last one failed
  std::string checkpoint_error_;      // and why
  Milliseconds step_retry_at_;        // of a takeover, likewise
  unsigned unanswered_ = 0;           // in a row

  InputQueue queue_;
  PinnedInputs pins_;
  Chores chores_;
  ReferencedRecords references_;
  std::optional<PartitionSetting> setting_;
  OutcomeCounts outcomes_;
  OlderRequests older_requests_;
  Survey survey_;
  TargetTable targets_;
  bool targets_grew_ = false;
  std::vector<Generation> lineage_;
};

}  // namespace reseq::runtime
