// PartitionTask: one partition of this worker: what is read, decided and written to disk of it once it is taken over.
//
//   kOpen ... kReady  it is taken over (takeover.h)                                                   -> kRunning
//   kRunning          its inputs are read and decided; what is in doubt is taken over again           -> kOffsets
//   kParked           something needs a person; nothing is read or written; the reason is logged (parking.h)
//
// Thread rule: one worker.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "changelog/restorer.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/application/pinned_inputs.h"
#include "runtime/takeover/isolation.h"
#include "runtime/takeover/parking.h"
#include "runtime/takeover/phase.h"
#include "runtime/takeover/recovery.h"
#include "runtime/takeover/shelf.h"
#include "runtime/takeover/standstill.h"
#include "runtime/takeover/takeover.h"
#include "runtime/worker/chores.h"
#include "runtime/worker/input_queue.h"
#include "runtime/worker/lane_survey.h"
#include "runtime/worker/older_requests.h"
#include "runtime/worker/referenced_records.h"
#include "runtime/worker/report.h"
#include "runtime/worker/survey.h"
#include "runtime/worker/totals.h"
#include "store/partition_store.h"

namespace reseq::runtime {

class PartitionTask {
 public:
  // REQUIRES: application, clock and shelf outlive the task.
  PartitionTask(const Application& application, const Clock& clock, Shelf& shelf, Partition partition);

  // One step of the takeover. Nothing to do in kBirth, kReady, kRunning, and while a question is asked.
  void step(changelog::Restorer& restorer);
  // Whose questions are asked and answered.
  [[nodiscard]] Takeover& takeover() { return takeover_; }

  // Takes over again from what is committed in memory, because the outcome of a transaction is unknown.
  void restart(changelog::Restorer& restorer);
  // As Takeover says.
  void rebuild(Rebuild why, std::string_view detail, changelog::Restorer& restorer);
  void restore_failed(const changelog::Restorer::Failure& failure, changelog::Restorer& restorer);

  void park(Parked why, std::string detail);
  // Why this process must not have the partition, see Parking.
  [[nodiscard]] const std::optional<std::string>& refused() const { return parking_.refused(); }
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
  [[nodiscard]] bool paused() const { return store().meta()->state.paused; }
  [[nodiscard]] bool something_to_decide() const {
    return paused() ? !queue_.records(Role::kControl).empty() : queue_.something_to_decide();
  }
  // True: it was paused or resumed since the last call, or since run(). What was fetched of a paused one is forgotten.
  [[nodiscard]] bool pause_changed();
  // Requests are read only as far as commands need them: more than held_bytes_max of results is held.
  [[nodiscard]] bool requests_stopped() const { return results_fill_ && phase() == Phase::kRunning; }
  // None are read now.
  [[nodiscard]] bool leaves_requests() const { return leaves_requests_; }
  // True: that has changed since the last call, or since run().
  [[nodiscard]] bool leaves_requests_changed();
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
  // The last checkpoint left a file that is large and mostly free, and it is time to write it anew, or to go on.
  [[nodiscard]] bool compaction_due() const;
  [[nodiscard]] bool compacting() const { return has_store() && store().compacting(); }
  // One step of it. True: the file was replaced. An error leaves the old one: it is tried again much later.
  Result<bool> compact();
  // Changed rows that cannot go to disk fill the memory: nothing more may be decided until a checkpoint succeeds.
  [[nodiscard]] bool memory_full() const;

  [[nodiscard]] Partition partition() const { return partition_; }
  [[nodiscard]] Phase phase() const {
    if (parking_.parked()) return Phase::kParked;
    return running_ ? Phase::kRunning : takeover_.phase();
  }
  [[nodiscard]] const std::string& parked_reason() const { return parking_.detail(); }
  // Why the last checkpoint failed; empty: it did not.
  [[nodiscard]] const std::string& checkpoint_error() const { return checkpoint_error_; }
  [[nodiscard]] Parked parked() const { return parking_.why(); }  // REQUIRES: kParked
  [[nodiscard]] bool has_store() const { return takeover_.store() != nullptr; }
  // What became of its inputs since this worker has it.
  void count(const OutcomeCounts& more) { outcomes_ += more; }
  [[nodiscard]] const OutcomeCounts& outcomes() const { return outcomes_; }
  [[nodiscard]] OlderRequests& older_requests() { return older_requests_; }
  [[nodiscard]] const OlderRequests& older_requests() const { return older_requests_; }
  [[nodiscard]] Survey& survey() { return survey_; }
  [[nodiscard]] const Survey& survey() const { return survey_; }
  [[nodiscard]] LaneSurvey& lane_survey() { return lane_survey_; }
  [[nodiscard]] const LaneSurvey& lane_survey() const { return lane_survey_; }
  // REQUIRES for the following: not kOpen.
  // Its state cannot be read any more, and nobody has begun to rebuild it.
  [[nodiscard]] bool faulty() const { return takeover_.faulty(); }
  [[nodiscard]] const store::PartitionStore& store() const { return *takeover_.store(); }
  // What of the agenda can be done now, with so many inputs decided up to `positions` (Chores::turns). While a
  // reference is read, a turn that begins with no input would only find that, but for what has become due since.
  [[nodiscard]] std::vector<driver::GateTurn> turns(const std::vector<InputPosition>& positions, UnixMs now,
                                                    std::optional<UnixMs> deadlines_at, std::size_t inputs) const {
    const bool waits = inputs == 0 && references_.waits();
    return chores_.turns(store(), positions, now, deadlines_at, inputs,
                         waits ? references_.kinds() : std::span<const std::uint8_t>(),
                         !references_.found_waiting_lately(now));
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
  [[nodiscard]] const std::vector<Generation>& lineage() const { return takeover_.lineage(); }
  // No batch was committed since the takeover.
  [[nodiscard]] bool new_generation() const { return store().meta()->lineage != lineage(); }
  // REQUIRES: kBirth. First offsets of the inputs' logs.
  [[nodiscard]] const std::vector<InputPosition>& birth_positions() const { return takeover_.birth_positions(); }
  [[nodiscard]] Offset restore_target() const { return takeover_.restore_target(); }
  // Why this takeover read the changelog from its beginning; kNone = it did not.
  [[nodiscard]] Rebuild rebuilt() const { return takeover_.rebuilt(); }

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
  struct Refusal {
    Role role;
    std::string detail;
    Milliseconds since;
  };

  void get_ready();
  void stop();
  // What surveys found in a state that was forgotten since.
  void forget_what_was_found();
  void log_refusal(const Refusal& refusal);
  [[nodiscard]] bool fits(const InputPin& pin, PinnedInputs::Judgement found);

  const Application& application_;
  const Clock& clock_;
  Partition partition_;
  Parking parking_;
  Takeover takeover_;  // has the state
  bool running_ = false;
  Isolation isolation_;
  unsigned aborts_alone_ = 0;
  bool left_out_ = false;

  std::optional<InputPosition> damaged_;  // where a damaged batch was met last, and how often
  unsigned damaged_times_ = 0;
  std::vector<Refusal> refusals_;  // inputs that could not be read when it was tried last
  Milliseconds try_to_read_at_;    // those again
  bool was_paused_ = false;
  bool results_fill_ = false;
  bool leaves_requests_ = false;
  Milliseconds checkpointed_at_;
  Milliseconds checkpoint_retry_at_;  // not before: the last one failed
  std::string checkpoint_error_;      // and why
  bool wants_compaction_ = false;     // found at a checkpoint
  Milliseconds compaction_began_at_;
  Milliseconds compaction_not_before_;

  InputQueue queue_;
  PinnedInputs pins_;
  Chores chores_;
  ReferencedRecords references_;
  std::optional<PartitionSetting> setting_;
  OutcomeCounts outcomes_;
  OlderRequests older_requests_;
  Survey survey_;
  LaneSurvey lane_survey_;
  TargetTable targets_;
  bool targets_grew_ = false;
};

}  // namespace reseq::runtime
