// Takeover: how a worker comes by the state of one partition, from nothing to ready, in this order.
//
//   kOpen         its state from the shelf: parked warm, or the copy on disk   -> kOffsets
//   kOffsets      stable committed offsets of the inputs                       -> kHighWatermark
//   kHighWatermark where the changelog begins and ends; reuse or rebuild       -> kRestore
//   kRestore      read it up to there                                          -> kCompare
//   kCompare      vector of the meta row against the offsets -> kReady | kBirth | kHighWatermark again | parked
//   kBirth        fresh partition: the worker commits its birth                -> kReady
//   kReady        it is over: the partition may run
//
// What it has to ask the brokers is a TakeoverQuestion, so that the worker asks for all its partitions together
// (TakeoverQuestions). What needs a person is parked, and the takeover stands still.
// Before kOffsets the producer of the worker must have been initialised: that ended the transactions of its older self.
// Invariant: from kOpen on it holds the state, also while the partition runs; in the end it gives it back to the shelf.
// Thread rule: one worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "changelog/restorer.h"
#include "model/partition_state.h"
#include "model/target.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/takeover/parking.h"
#include "runtime/takeover/phase.h"
#include "runtime/takeover/recovery.h"
#include "runtime/takeover/shelf.h"
#include "runtime/takeover/standstill.h"
#include "store/partition_store.h"

namespace reseq::runtime {

enum class TakeoverQuestion : std::uint8_t {
  kNone,
  kOffsets,        // stable committed offsets of its inputs
  kChangelogEnds,  // where its changelog begins and ends
  kFirstOffsets,   // where its inputs begin, or end: at a birth
};

class Takeover {
 public:
  // REQUIRES: application, clock, shelf and parking outlive it.
  Takeover(const Application& application, const Clock& clock, Shelf& shelf, Parking& parking, Partition partition);
  ~Takeover();
  Takeover(const Takeover&) = delete;
  Takeover& operator=(const Takeover&) = delete;

  // Nothing to do in kBirth and kReady, and while a question is asked.
  void step(changelog::Restorer& restorer);

  // What has to be asked before it can go on. It is answered by one of the following, or asked again.
  [[nodiscard]] TakeoverQuestion question() const;
  void take_offsets(std::vector<InputPosition> committed);
  void take_ends(const changelog::LogEnds& ends, changelog::Restorer& restorer);
  void take_first_offsets(std::vector<InputPosition> first, changelog::Restorer& restorer);
  // Nobody can answer now: says so, now and then.
  void wait_for_answer(Waiting what, std::string_view detail) { log_waiting(what, detail); }
  void wait_before_next_step(Milliseconds pause);
  // The question about it alone was not answered, which kept the worker waiting: a second, then twice as long each
  // time, up to eight, until there is an answer.
  void wait_longer();
  // The birth is committed. REQUIRES: kBirth.
  void born();

  // Takes over again from what is committed in memory.
  void restart(changelog::Restorer& restorer);
  // The state does not fit the changelog, or cannot be read: forgets it and takes over again from the beginning of the
  // changelog. One that does not fit when it was just rebuilt is parked instead.
  void rebuild(Rebuild why, std::string_view detail, changelog::Restorer& restorer);
  void restore_failed(const changelog::Restorer::Failure& failure, changelog::Restorer& restorer);
  // The partition runs: that it was rebuilt before says nothing of what follows.
  void ran() { rebuilds_ = 0; }
  // True: a state that did not fit, or could not be read, was forgotten since the last call.
  [[nodiscard]] bool forgot();

  [[nodiscard]] Partition partition() const { return partition_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  // Null in kOpen.
  [[nodiscard]] store::PartitionStore* store() const { return store_.get(); }
  // The state cannot be read any more, and nobody has begun to rebuild it.
  [[nodiscard]] bool faulty() const { return store_ && !to_wipe_ && !parking_.parked() && store_->fault(); }
  // Why it read the changelog from its beginning; kNone = it did not.
  [[nodiscard]] Rebuild rebuilt() const { return rebuilt_; }
  [[nodiscard]] Offset restore_target() const { return restore_target_; }
  // REQUIRES: kBirth. First offsets of the inputs' logs.
  [[nodiscard]] const std::vector<InputPosition>& birth_positions() const { return offsets_; }
  // With the generation that begins. REQUIRES: kReady.
  [[nodiscard]] const std::vector<Generation>& lineage() const { return lineage_; }

 private:
  // Which targets documents wait for, as far as it was looked for.
  struct WaitedFor {
    std::optional<Offset> at;  // position of the changelog when that began
    std::string cursor;
    bool ended = false;
    TargetSet targets;
  };

  void open();
  void watch_restore(changelog::Restorer& restorer);
  void compare(changelog::Restorer& restorer);
  void miss_meta_row();
  void compare_positions(changelog::Restorer& restorer);
  void get_ready(changelog::Restorer& restorer);
  void empty_store(Rebuild why, std::string_view detail);
  void wipe();
  void begin_again();
  [[nodiscard]] bool choose_way(const changelog::LogEnds& log);
  [[nodiscard]] Rebuild distrust() const;
  [[nodiscard]] bool look_for_missing_target();
  [[nodiscard]] std::string difference() const;
  void log_way(const changelog::Progress& progress) const;
  void log_waiting(Waiting what, std::string_view detail);

  const Application& application_;
  const Clock& clock_;
  Shelf& shelf_;
  Parking& parking_;
  Partition partition_;
  Phase phase_ = Phase::kOpen;

  std::unique_ptr<store::PartitionStore> store_;
  bool from_disk_ = false;  // opened, and nothing read since
  UnixMs read_since_;       // when this process began to read it from the beginning; 0 = it did not
  bool to_wipe_ = false;    // is to be emptied, which failed
  bool lost_rows_ = false;  // a copy with rows was thrown away
  bool forgot_ = false;
  bool to_be_born_ = false;                  // when its first offsets are known
  bool asked_again_ = false;                 // the offsets, because they were not those of the meta row
  std::optional<Offset> no_meta_row_up_to_;  // so far was read, and none found
  WaitedFor waited_for_;
  unsigned rebuilds_ = 0;  // since it ran
  Rebuild rebuilt_ = Rebuild::kNone;
  std::optional<store::Checkpoint> from_;  // where the catching up began
  std::vector<InputPosition> offsets_;
  Offset restore_target_;
  std::vector<Generation> lineage_;

  Milliseconds started_at_;
  Milliseconds behind_since_;
  Milliseconds logged_at_;
  Milliseconds step_retry_at_;  // not before
  unsigned unanswered_ = 0;     // in a row
};

}  // namespace reseq::runtime
