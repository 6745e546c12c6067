// What a partition tells an operator on its way: what was decided and what it costs, how far it is, what it waits for,
// why it is parked. The words are those of docs/recovery.md.
#include <utility>

#include "base/log.h"
#include "runtime/worker/partition_task.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kLogWaitingEvery{5000};
constexpr Milliseconds kParkedAgainEvery{600'000};

}  // namespace

// What was decided, why, and what it costs, before it begins. The marker of its last transaction stands behind a state
// that lacks nothing.
void PartitionTask::log_way(const changelog::Progress& progress) const {
  const bool rebuild = rebuilt_ != Rebuild::kNone;
  const std::int64_t stands = store_->position().value_or(progress.from).value();
  const bool reuse = !rebuild && stands + 1 >= progress.target.value();
  spdlog::info("partition={} takeover=restore decision={} reason={} offsets_to_read={} from={} to={} rows={}",
               partition_.value(),
               rebuild ? "rebuild"
               : reuse ? "reuse"
                       : "catch_up",
               rebuild      ? name_of(rebuilt_)
               : from_disk_ ? store::name_of(store_->found())
                            : "warm",
               progress.target.value() - progress.from.value(), progress.from.value(), progress.target.value(),
               store_->rows());
}

void PartitionTask::log_waiting(Waiting what, std::string_view detail) {
  if (clock_.steady().value() - logged_at_.value() < kLogWaitingEvery.value()) return;
  logged_at_ = clock_.steady();
  spdlog::info("partition={} takeover={} waiting={} seconds={} detail={}", partition_.value(), name_of(phase_),
               name_of(what), (logged_at_.value() - started_at_.value()) / 1000, log::outside(detail));
}

void PartitionTask::log_refusal(const Refusal& refusal) {
  spdlog::warn("partition={} reading=refused waiting={} seconds={} detail={}", partition_.value(),
               name_of(Waiting::kInputRead), (clock_.steady().value() - refusal.since.value()) / 1000,
               log::outside(refusal.detail));
}

void PartitionTask::park(Parked why, std::string detail) {
  phase_ = Phase::kParked;
  rewind();
  parked_ = why;
  parked_reason_ = std::move(detail);
  parked_at_ = clock_.steady();
  log_parked();
}

void PartitionTask::log_parked() {
  logged_at_ = clock_.steady();
  spdlog::error("partition={} parked reason={} minutes={} detail={} first_step={}", partition_.value(),
                name_of(parked_), (logged_at_.value() - parked_at_.value()) / 60'000, log::outside(parked_reason_),
                log::outside(first_step(parked_)));
}

// Whoever looks at the log hours later finds the reason in its last minutes.
void PartitionTask::remind() {
  if (clock_.steady().value() - logged_at_.value() >= kParkedAgainEvery.value()) log_parked();
}

void PartitionTask::refuse(Parked why, const std::string& reason) {
  park(why, reason);
  refused_ = "partition " + std::to_string(partition_.value()) + ": " + reason;
}

}  // namespace reseq::runtime
