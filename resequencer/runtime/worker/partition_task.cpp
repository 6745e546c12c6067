#include "runtime/worker/partition_task.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace reseq::runtime {

namespace {

// A checkpoint that keeps failing lets memory grow up to this many times its limit; then the partition waits.
constexpr std::uint64_t kMemoryStretch = 4;
constexpr Milliseconds kAfterFailedCheckpoint{10'000};
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
      shelf_(shelf),
      partition_(partition),
      logged_at_(clock.steady()),
      started_at_(clock.steady()),
      checkpointed_at_(clock.steady()),
      chores_(application) {}

PartitionTask::~PartitionTask() {
  if (store_) shelf_.give_back(partition_, std::move(store_));
}

void PartitionTask::run() {
  RESEQ_ASSERT(phase_ == Phase::kReady, "a partition runs that is not ready");
  phase_ = Phase::kRunning;
  rebuilds_ = 0;
  was_paused_ = paused();
  if (was_paused_) spdlog::info("partition={} operation=paused", partition_.value());
  chores_.start(store_->meta()->sweep_cursor, clock_.steady());
}

void PartitionTask::committed(std::span<const store::Change> changes, const Summary& after, Offset changelog_next) {
  store_->apply(changes, after, changelog_next);
  targets_grew_ = false;
  if (isolation_.aborted()) spdlog::info("partition={} transactions=shared", partition_.value());
  isolation_.committed();
  aborts_alone_ = 0;
  chores_.committed(clock_.steady());
  if (phase_ != Phase::kBirth) return;
  targets_ = store_->targets();
  setting_ = partition_setting(application_, targets_);
  for (const InputPosition& position : offsets_) queue_.reset(position.role, position.next);
  lineage_ = store_->meta()->lineage;
  phase_ = Phase::kReady;
  spdlog::info("partition={} takeover=born generation=1", partition_.value());
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
  if (phase_ != Phase::kRunning || refusals_.empty() || clock_.steady() < try_to_read_at_) return false;
  try_to_read_at_ = Milliseconds(clock_.steady().value() + kAfterRefusal.value());
  for (const Refusal& refusal : refusals_) log_refusal(refusal);
  return true;
}

bool PartitionTask::pause_changed() {
  if (was_paused_ == paused()) return false;
  was_paused_ = paused();
  spdlog::info("partition={} operation={}", partition_.value(), was_paused_ ? "paused" : "resumed");
  if (was_paused_) rewind();
  return true;
}

bool PartitionTask::is_known_log(Role role, const kafka::Record& record) {
  const InputPin* waits = pins_.pin(role);
  if (waits == nullptr) return true;
  const InputPin pin = *waits;
  return fits(pin, pins_.judge(role, record, store_->hash()));
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
  if (!store_ || !store_->on_disk() || phase_ == Phase::kParked || clock_.steady() < checkpoint_retry_at_) return false;
  const auto standing = store_->checkpoint();
  const auto last = store_->checkpointed();
  if (!standing || (last && last->position == standing->position)) return false;
  // Inside of a transaction only when memory must be freed: a crash makes such a checkpoint worthless.
  if (standing->generation == 0) return memory_full();
  if (checkpoint_urgent()) return true;
  if (phase_ != Phase::kRunning) return false;
  // What a crash would make worthless is replaced as soon as it can be.
  if (!last || last->generation == 0) return true;
  return clock_.steady().value() - checkpointed_at_.value() >= application_.settings.checkpoint_interval_ms;
}

bool PartitionTask::checkpoint_urgent() const {
  const config::Settings& settings = application_.settings;
  return store_->dirty_rows() >= static_cast<std::size_t>(settings.checkpoint_rows_max) ||
         store_->dirty_bytes() >= static_cast<std::uint64_t>(settings.checkpoint_bytes_max);
}

Result<std::size_t> PartitionTask::checkpoint() {
  const std::size_t rows = store_->dirty_rows();
  const Milliseconds begin = clock_.steady();
  if (const auto written = store_->write_checkpoint(); !written) {
    checkpoint_retry_at_ = Milliseconds(clock_.steady().value() + kAfterFailedCheckpoint.value());
    checkpoint_error_ = written.error().message;
    return written.error();
  }
  checkpoint_error_.clear();
  checkpointed_at_ = clock_.steady();
  const store::Checkpoint checkpoint = *store_->checkpointed();
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

bool PartitionTask::memory_full() const {
  const config::Settings& settings = application_.settings;
  return store_->dirty_rows() / kMemoryStretch >= static_cast<std::size_t>(settings.checkpoint_rows_max) ||
         store_->dirty_bytes() / kMemoryStretch >= static_cast<std::uint64_t>(settings.checkpoint_bytes_max);
}

}  // namespace reseq::runtime
