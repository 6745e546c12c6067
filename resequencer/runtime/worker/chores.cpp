#include "runtime/worker/chores.h"

#include <algorithm>
#include <utility>

#include "engine/gate.h"
#include "store/batch_view.h"

namespace reseq::runtime {

namespace {

constexpr std::int64_t kPassesPerRetention = 8;
constexpr Milliseconds kSweepPause{100};
constexpr Milliseconds kMovedPause{60'000};
constexpr Milliseconds kHeartbeatPauseMin{250};  // delete.retention.ms may be 0

}  // namespace

void Chores::start(std::string sweep_cursor, Milliseconds steady) {
  sweep_cursor_ = std::move(sweep_cursor);
  looked_at_.reset();
  restart(steady);
}

void Chores::restart(Milliseconds steady) {
  fence_.reset();
  expired_found_at_.reset();
  committed_at_ = steady;
}

void Chores::committed(Milliseconds steady) {
  committed_at_ = steady;
}

// A row of the gate is there: only then is it asked what is due.
bool Chores::holds(const store::PartitionStore& store) const {
  return application_.gate != nullptr && store.summary().counts.any_rare();
}

bool Chores::want_ends(const store::PartitionStore& store, const InputFence::Offsets& positions, UnixMs now) const {
  if (!application_.guards.timers_behind_input) return false;
  const auto missing = [&](const engine::Fence& fence, std::optional<UnixMs> at) {
    return at && *at <= now && fence_.lacks(fence, positions, *at, now);
  };
  if (missing(kAll, store.earliest_deadline()) || missing(kAll, expired_found_at_)) return true;
  if (!holds(store)) return false;
  const store::BatchView view(store);
  const auto kinds = application_.gate->agenda();
  return std::any_of(kinds.begin(), kinds.end(), [&](const engine::AgendaKind& kind) {
    return !kind.fence.open() && missing(kind.fence, application_.gate->next(kind.number, view));
  });
}

std::optional<UnixMs> Chores::until(const engine::Fence& fence, const std::vector<InputPosition>& positions,
                                    UnixMs now) const {
  if (!application_.guards.timers_behind_input) return now;
  InputFence::Offsets next;
  std::transform(positions.begin(), positions.end(), next.begin(), [](const InputPosition& one) { return one.next; });
  return fence_.until(fence, next, now);
}

std::vector<driver::GateTurn> Chores::turns(const store::PartitionStore& store,
                                            const std::vector<InputPosition>& positions, UnixMs now) const {
  std::vector<driver::GateTurn> turns;
  if (!holds(store) || store.meta()->state.paused) return turns;
  const store::BatchView view(store);
  for (const engine::AgendaKind& kind : application_.gate->agenda()) {
    const auto next = application_.gate->next(kind.number, view);
    const auto until = next ? this->until(kind.fence, positions, now) : std::nullopt;
    if (until && *next <= *until) turns.push_back({kind.number, *until, kGateRowsMax});
  }
  return turns;
}

void Chores::look_for_expired(const store::PartitionStore& store, Milliseconds steady, UnixMs now) {
  const std::int64_t retention = application_.settings.watermark_retention_ms;
  if (expired_found_at_ || retention == 0 || store.summary().counts[Count::kWatermarks] == 0) return;
  const auto pieces = static_cast<std::int64_t>(store.rows() / kSweepRowsMax + 1);
  const std::int64_t pause = std::max(kSweepPause.value(), retention / kPassesPerRetention / pieces);
  if (looked_at_ && steady.value() - looked_at_->value() < pause) return;
  looked_at_ = steady;
  auto piece = store.sweep(sweep_cursor_, kSweepRowsMax, now);
  if (piece.expired_ids.empty()) {
    sweep_cursor_ = std::move(piece.cursor);
  } else {
    expired_found_at_ = now;
  }
}

void Chores::swept(std::string cursor) {
  sweep_cursor_ = std::move(cursor);
  expired_found_at_.reset();
}

bool Chores::want_heartbeat(const store::PartitionStore& store, const InputQueue& queue, Milliseconds steady,
                            UnixMs now) const {
  const std::int64_t since = steady.value() - committed_at_.value();
  const std::int64_t quarter = std::max(application_.delete_retention.value() / 4, kHeartbeatPauseMin.value());
  if (since >= quarter || now.value() - store.meta()->now.value() >= quarter) return true;
  if (since < kMovedPause.value()) return false;
  return std::any_of(store.meta()->positions.begin(), store.meta()->positions.end(),
                     [&](const InputPosition& position) { return queue.after(position.role, 0) > position.next; });
}

}  // namespace reseq::runtime
