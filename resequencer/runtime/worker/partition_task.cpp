#include "runtime/worker/partition_task.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kAfterFailedCheckpoint{10'000};
// A file that was written anew, or could not be, is left in peace for so long.
constexpr Milliseconds kBetweenCompactions{600'000};
// Nothing else of the worker goes on meanwhile.
constexpr Milliseconds kSlowCheckpoint{5'000};
// What is damaged on its way is whole the next time; on the disk of a broker it never is.
constexpr unsigned kDamageMax = 10;
// What a person must give back is soon noticed, and the other partitions, which are fetched anew each time, hardly.
constexpr Milliseconds kAfterRefusal{5'000};

}  // namespace

PartitionTask::PartitionTask(const Application& application, const Clock& clock, Shelf& shelf, Partition partition)
    : application_(application),
      clock_(clock),
      partition_(partition),
      parking_(clock, partition),
      takeover_(application, clock, shelf, parking_, partition),
      checkpointed_at_(clock.steady()),
      chores_(application) {}

void PartitionTask::step(changelog::Restorer& restorer) {
  if (parking_.parked()) return parking_.remind();
  if (takeover_.phase() == Phase::kReady) return;
  takeover_.step(restorer);
  forget_what_was_found();
  if (takeover_.phase() == Phase::kReady) get_ready();
}

// The takeover is over: the partition goes on where the last meta row says.
void PartitionTask::get_ready() {
  const Meta& meta = *store().meta();
  targets_ = extended(application_, store().targets()).value();
  targets_grew_ = targets_ != store().targets();
  setting_ = partition_setting(application_, targets_);
  for (const InputPosition& position : meta.positions) queue_.reset(position.role, position.next);
  if (application_.guards.pinned_inputs) pins_.expect(meta.pins, meta.positions);
}

void PartitionTask::restart(changelog::Restorer& restorer) {
  takeover_.restart(restorer);
  stop();
}

void PartitionTask::rebuild(Rebuild why, std::string_view detail, changelog::Restorer& restorer) {
  takeover_.rebuild(why, detail, restorer);
  stop();
}

void PartitionTask::restore_failed(const changelog::Restorer::Failure& failure, changelog::Restorer& restorer) {
  takeover_.restore_failed(failure, restorer);
  stop();
}

// It does not run any more, but is taken over again or parked.
void PartitionTask::stop() {
  running_ = false;
  forget_what_was_found();
  rewind();
}

void PartitionTask::forget_what_was_found() {
  if (!takeover_.forgot()) return;
  survey_ = Survey();
  lane_survey_ = LaneSurvey();
}

void PartitionTask::park(Parked why, std::string detail) {
  rewind();
  if (has_store()) takeover_.store()->drop_compaction();  // for as long as it takes it would hold a file
  parking_.park(why, std::move(detail));
}

void PartitionTask::run() {
  RESEQ_ASSERT(phase() == Phase::kReady, "a partition runs that is not ready");
  running_ = true;
  takeover_.ran();
  results_fill_ = false;
  leaves_requests_ = false;
  was_paused_ = paused();
  if (was_paused_) spdlog::info("partition={} operation=paused", partition_.value());
  chores_.start(store().meta()->sweep_cursor, clock_.steady());
}

void PartitionTask::committed(std::span<const store::Change> changes, const Summary& after, Offset changelog_next) {
  takeover_.store()->apply(changes, after, changelog_next);
  targets_grew_ = false;
  if (isolation_.aborted()) spdlog::info("partition={} transactions=shared", partition_.value());
  isolation_.committed();
  aborts_alone_ = 0;
  chores_.committed(clock_.steady());
  if (takeover_.phase() != Phase::kBirth) return;
  takeover_.born();
  get_ready();
}

void PartitionTask::rewind() {
  for (const Role role : kInputs) queue_.reset(role, queue_.decided(role));
  chores_.restart(clock_.steady());
  references_.clear();
}

bool PartitionTask::reading_refused(Role role) const {
  return std::any_of(refusals_.begin(), refusals_.end(), [&](const Refusal& refusal) { return refusal.role == role; });
}

bool PartitionTask::cannot_read(Role role, const std::string& detail) {
  const auto known = std::find_if(refusals_.begin(), refusals_.end(), [&](const Refusal& r) { return r.role == role; });
  if (known != refusals_.end()) {
    known->detail = detail;
    return false;
  }
  if (refusals_.empty()) try_to_read_at_ = Milliseconds(clock_.steady().value() + kAfterRefusal.value());
  refusals_.push_back({role, detail, clock_.steady()});
  log_refusal(refusals_.back());
  rewind();
  return true;
}

bool PartitionTask::has_read(Role role) {
  if (refusals_.empty() || std::erase_if(refusals_, [&](const Refusal& r) { return r.role == role; }) == 0)
    return false;
  if (refusals_.empty()) spdlog::info("partition={} reading=resumed", partition_.value());
  return true;
}

bool PartitionTask::try_to_read() {
  if (phase() != Phase::kRunning || refusals_.empty() || clock_.steady() < try_to_read_at_) return false;
  try_to_read_at_ = Milliseconds(clock_.steady().value() + kAfterRefusal.value());
  for (const Refusal& refusal : refusals_) log_refusal(refusal);
  return true;
}

void PartitionTask::log_refusal(const Refusal& refusal) {
  spdlog::warn("partition={} reading=refused waiting={} seconds={} detail={}", partition_.value(),
               name_of(Waiting::kInputRead), (clock_.steady().value() - refusal.since.value()) / 1000,
               log::outside(refusal.detail));
}

bool PartitionTask::pause_changed() {
  if (was_paused_ == paused()) return false;
  was_paused_ = paused();
  spdlog::info("partition={} operation={}", partition_.value(), was_paused_ ? "paused" : "resumed");
  if (was_paused_) rewind();
  return true;
}

// Each assign stops all that is read, so they are read again when half of what may be held is free. What is held leaves
// without them: by results, by gaps, whose fence is behind commands, and by retries, which have none and read their
// request apart. A command that waits for requests may be what is waited for, so they are read as far as it needs them.
// Requests that are tried again are held, too, and not counted here: a target that is down would stop all others.
bool PartitionTask::leaves_requests_changed() {
  if (!application_.held_stops_requests) return false;
  const auto most = static_cast<std::uint64_t>(application_.settings.held_bytes_max);
  const std::uint64_t held = store().summary().counts[Count::kResultBytes];
  const bool fill = held > (results_fill_ ? most / 2 : most);
  if (fill != results_fill_)
    spdlog::warn("partition={} requests={} result_bytes={} held_bytes_max={}", partition_.value(),
                 fill ? "stopped" : "resumed", held, most);
  results_fill_ = fill;
  const bool leaves = fill && !queue_.wants_requests();
  return std::exchange(leaves_requests_, leaves) != leaves;
}

bool PartitionTask::is_known_log(Role role, const kafka::Record& record) {
  const InputPin* waits = pins_.pin(role);
  if (waits == nullptr) return true;
  const InputPin pin = *waits;
  return fits(pin, pins_.judge(role, record, store().hash()));
}

bool PartitionTask::is_known_log(Role role, const kafka::EndOfLog& end) {
  const InputPin* waits = pins_.pin(role);
  if (waits == nullptr) return true;
  const InputPin pin = *waits;
  return fits(pin, pins_.judge_end(role, end.offset, queue_.read(role)));
}

bool PartitionTask::fits(const InputPin& pin, PinnedInputs::Judgement found) {
  const std::string where =
      application_.topics.name(application_.topics.of(pin.role)) + " offset " + std::to_string(pin.offset.value());
  switch (found) {
    case PinnedInputs::Judgement::kGoOn:
      return true;
    case PinnedInputs::Judgement::kOther:
      park(Parked::kInputReplaced, where +
                                       " was decided last and is another record now: the topic was deleted and made "
                                       "anew, or another log was put in its place");
      return false;
    case PinnedInputs::Judgement::kMissing:
      break;
  }
  if (pin.role == Role::kRequests && application_.requests_compacted) {
    spdlog::warn(
        "partition={} input=unchecked {} was decided last and was compacted away: whether this is the same log "
        "is not known",
        partition_.value(), log::outside(where));
    return true;
  }
  park(Parked::kInputReplaced, where +
                                   " was decided last and has no record now: the topic was deleted and made anew, "
                                   "another log was put in its place, or it was compacted since this process started");
  return false;
}

bool PartitionTask::gives_up_pin(Role role, const std::string& detail) {
  if (pins_.pin(role) == nullptr) return false;
  spdlog::warn(
      "partition={} input=unchecked the record that was decided last, at offset {}, cannot be read any more: "
      "whether this is the same log is not known detail={}",
      partition_.value(), pins_.pin(role)->offset.value(), log::outside(detail));
  pins_.give_up(role);
  return true;
}

bool PartitionTask::damage_stays(Role role) {
  const InputPosition here{role, queue_.read(role)};
  damaged_times_ = damaged_ == here ? damaged_times_ + 1 : 1;
  damaged_ = here;
  return damaged_times_ >= kDamageMax;
}

bool PartitionTask::checkpoint_due() const {
  if (!has_store() || !store().on_disk() || parking_.parked() || clock_.steady() < checkpoint_retry_at_) return false;
  const auto standing = store().checkpoint();
  const auto last = store().checkpointed();
  if (!standing || (last && last->position == standing->position)) return false;
  // Inside of a transaction only when memory must be freed: a crash makes such a checkpoint worthless.
  if (standing->generation == 0) return memory_full();
  if (checkpoint_urgent()) return true;
  if (phase() != Phase::kRunning) return false;
  // What a crash would make worthless is replaced as soon as it can be.
  if (!last || last->generation == 0) return true;
  return clock_.steady().value() - checkpointed_at_.value() >= application_.settings.checkpoint_interval_ms;
}

bool PartitionTask::checkpoint_urgent() const {
  const config::Settings& settings = application_.settings;
  return store().dirty_rows() >= static_cast<std::size_t>(settings.checkpoint_rows_max) ||
         store().dirty_bytes() >= static_cast<std::uint64_t>(settings.checkpoint_bytes_max);
}

Result<std::size_t> PartitionTask::checkpoint() {
  const std::size_t rows = store().dirty_rows();
  const Milliseconds begin = clock_.steady();
  if (const auto written = takeover_.store()->write_checkpoint(); !written) {
    checkpoint_retry_at_ = Milliseconds(clock_.steady().value() + kAfterFailedCheckpoint.value());
    checkpoint_error_ = written.error().message;
    return written.error();
  }
  checkpoint_error_.clear();
  checkpointed_at_ = clock_.steady();
  wants_compaction_ = store().wants_compaction();
  const store::Checkpoint checkpoint = *store().checkpointed();
  const std::int64_t ms = checkpointed_at_.value() - begin.value();
  spdlog::debug("partition={} checkpoint=written changelog_position={} generation={} rows={} ms={}", partition_.value(),
                checkpoint.position.value(), checkpoint.generation, rows, ms);
  if (ms >= kSlowCheckpoint.value())
    spdlog::warn(
        "partition={} checkpoint=slow rows={} ms={} the disk below state.dir is slow and the partitions of this "
        "worker waited: a lower checkpoint_rows_max makes the waits shorter, a faster disk makes them rare",
        partition_.value(), rows, ms);
  return rows;
}

bool PartitionTask::compaction_due() const {
  return wants_compaction_ && phase() == Phase::kRunning && clock_.steady() >= compaction_not_before_;
}

// Much may have happened since the checkpoint that found it.
Result<bool> PartitionTask::compact() {
  wants_compaction_ = store().wants_compaction();
  if (!wants_compaction_) return false;
  if (!compacting()) compaction_began_at_ = clock_.steady();
  const auto compacted = takeover_.store()->compact();
  if (compacted && !compacted.value()) return false;
  wants_compaction_ = false;
  compaction_not_before_ = Milliseconds(clock_.steady().value() + kBetweenCompactions.value());
  if (!compacted) return compacted.error();
  spdlog::info("partition={} compaction=done bytes_before={} bytes_after={} ms={}", partition_.value(),
               compacted.value()->before, compacted.value()->after,
               clock_.steady().value() - compaction_began_at_.value());
  return true;
}

// A checkpoint that keeps failing lets memory grow up to so many times its limit; then the partition waits.
bool PartitionTask::memory_full() const {
  using Limit = changelog::MemoryLimit;
  const config::Settings& settings = application_.settings;
  return store().dirty_rows() / Limit::kRowsStretch >= static_cast<std::size_t>(settings.checkpoint_rows_max) ||
         store().dirty_bytes() / Limit::kBytesStretch >= static_cast<std::uint64_t>(settings.checkpoint_bytes_max);
}

}  // namespace reseq::runtime
