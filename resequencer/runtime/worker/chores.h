// Chores: what a running partition has to do without an input: fire timers, let through what a gate holds, sweep
// watermarks, write a heartbeat.
//
//   timers     a timer with deadline d fires only when all inputs have been read to ends asked at or after d: the
//              result that it waits for may be in the log already
//   sweep      pieces of the key range, so often that all rows are looked at eight times in watermark_retention, the
//              first one at the start: a process that is restarted every night sweeps too. Like a timer it waits until
//              all inputs have been read to ends asked after it found something: an old request may be in the log, and
//              would be new to a document that was forgotten
//   agenda     turns of the journal and of a gate, each kind behind the inputs that its fence names
//   heartbeat  a meta row at least every quarter of delete.retention.ms, so that an idle partition's copies stay young;
//              and a minute after the inputs moved over control records only, so that retention cannot overtake us
//
// Thread rule: one worker.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/batch_driver.h"
#include "kafka/cluster.h"
#include "model/partition_state.h"
#include "runtime/application/application.h"
#include "runtime/worker/input_fence.h"
#include "runtime/worker/input_queue.h"
#include "store/partition_store.h"

namespace reseq::runtime {

// Most timers fired, rows of one kind of the agenda done, and rows swept, in one batch. Of what
// waits for its dispatch a quarter of batch_records_max leaves, if that is more.
inline constexpr std::size_t kTimersMax = 1000;
inline constexpr std::uint32_t kGateRowsMax = 1000;
inline constexpr std::size_t kSweepRowsMax = 1000;

class Chores {
 public:
  explicit Chores(const Application& application) : application_(application) {}

  // The partition starts to run; the sweep goes on at `sweep_cursor`.
  void start(std::string sweep_cursor, Milliseconds steady);
  // It reads again from its last commit.
  void restart(Milliseconds steady);
  void committed(Milliseconds steady);

  // Timers and sweep: `now` is the wall clock, which is frozen after a step (TrustedClock).
  [[nodiscard]] bool want_ends(const store::PartitionStore& store, const InputFence::Offsets& positions,
                               UnixMs now) const;
  void set_ends(const InputFence::Offsets& ends, const InputFence::Offsets& positions, UnixMs asked_at) {
    fence_.set(ends, positions, asked_at);
  }
  // The deadline up to which timers may fire once the inputs are decided up to `positions`.
  [[nodiscard]] std::optional<UnixMs> may_fire(const std::vector<InputPosition>& positions, UnixMs now) const {
    return until(kAll, positions, now);
  }
  // Turns of the agenda in which something is due, or may be due because of so many inputs of the batch. `deadlines_at`
  // as of timers: without it only what a batch makes due itself, by `now`. `left_out`: kinds that are not asked for,
  // but `again` those that have a turn in each batch.
  [[nodiscard]] std::vector<driver::GateTurn> turns(const store::PartitionStore& store,
                                                    const std::vector<InputPosition>& positions, UnixMs now,
                                                    std::optional<UnixMs> deadlines_at, std::size_t inputs,
                                                    std::span<const std::uint8_t> left_out, bool again = false) const;

  // When something of the agenda is due next, behind `now`; none = nothing waits for a date.
  [[nodiscard]] std::optional<UnixMs> next_date(const store::PartitionStore& store, UnixMs now) const;

  // Looks for something to sweep when it is time. Rows of a piece without an expired one need no transaction.
  void look_for_expired(const store::PartitionStore& store, Milliseconds steady, UnixMs now);
  // `may_fire` as said by may_fire().
  [[nodiscard]] bool want_sweep(std::optional<UnixMs> may_fire) const {
    return expired_found_at_ && may_fire && *expired_found_at_ <= *may_fire;
  }
  [[nodiscard]] const std::string& sweep_cursor() const { return sweep_cursor_; }
  void swept(std::string cursor);

  [[nodiscard]] bool want_heartbeat(const store::PartitionStore& store, const InputQueue& queue, Milliseconds steady,
                                    UnixMs now) const;

 private:
  static constexpr engine::Fence kAll = {.requests = true, .control = true, .commands = true};
  [[nodiscard]] std::optional<UnixMs> until(const engine::Fence& fence, const std::vector<InputPosition>& positions,
                                            UnixMs now) const;

  [[nodiscard]] std::uint32_t dispatched_max(std::size_t inputs) const;

  const Application& application_;
  InputFence fence_;
  std::string sweep_cursor_;
  std::optional<UnixMs> expired_found_at_;
  std::optional<Milliseconds> looked_at_;
  Milliseconds committed_at_;
};

}  // namespace reseq::runtime
