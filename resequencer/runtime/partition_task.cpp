#include "runtime/partition_task.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace reseq::runtime {

namespace {

// A checkpoint that keeps failing lets memory grow up to this many times its limit; then the partition waits.
constexpr std::uint64_t kMemoryStretch = 4;
constexpr Milliseconds kAfterFailedCheckpoint{10'000};
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

void PartitionTask::committed(std::span<const store::Change> changes, const store::Summary& after,
                              Offset changelog_next) {
  store_->apply(changes, after, changelog_next);
  targets_grew_ = false;
  aborts_alone = 0;
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
  return refusals_.empty();
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

bool PartitionTask::damage_stays(Role role) {
  const InputPosition here{role, queue_.read(role)};
  damaged_times_ = damaged_ == here ? damaged_times_ + 1 : 1;
  damaged_ = here;
  return damaged_times_ >= kDamageMax;
}

bool PartitionTask::checkpoint_due() const {
  if (!store_ || !store_->on_disk() || phase_ == Phase::kParked || clock_.steady() < checkpoint_retry_at_) return false;
  const auto standing = store_->standing();
  const auto last = store_->checkpointed();
  if (!standing || (last && last->position == standing->position)) return false;
  // Inside of a transaction only when memory must be freed: a crash makes such a checkpoint worthless.
  if (standing->generation == 0) return memory_full();
  const config::Settings& settings = application_.settings;
  if (store_->dirty_rows() >= static_cast<std::size_t>(settings.checkpoint_rows_max)) return true;
  if (store_->dirty_bytes() >= static_cast<std::uint64_t>(settings.checkpoint_bytes_max)) return true;
  if (phase_ != Phase::kRunning) return false;
  // What a crash would make worthless is replaced as soon as it can be.
  if (!last || last->generation == 0) return true;
  return clock_.steady().value() - checkpointed_at_.value() >= settings.checkpoint_interval_ms;
}

Result<std::size_t> PartitionTask::checkpoint() {
  const std::size_t rows = store_->dirty_rows();
  const Milliseconds begin = clock_.steady();
  if (const auto written = store_->write_checkpoint(); !written) {
    checkpoint_retry_at_ = Milliseconds(clock_.steady().value() + kAfterFailedCheckpoint.value());
    return written.error();
  }
  checkpointed_at_ = clock_.steady();
  const store::Checkpoint checkpoint = *store_->checkpointed();
  spdlog::debug("partition={} checkpoint=written changelog_position={} generation={} rows={} ms={}", partition_.value(),
                checkpoint.position.value(), checkpoint.generation, rows, checkpointed_at_.value() - begin.value());
  return rows;
}

bool PartitionTask::memory_full() const {
  const config::Settings& settings = application_.settings;
  return store_->dirty_rows() / kMemoryStretch >= static_cast<std::size_t>(settings.checkpoint_rows_max) ||
         store_->dirty_bytes() / kMemoryStretch >= static_cast<std::uint64_t>(settings.checkpoint_bytes_max);
}

}  // namespace reseq::runtime
