#include "runtime/worker/chores.h"

#include <algorithm>
#include <utility>

#include "engine/agenda.h"
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

bool Chores::want_ends(const store::PartitionStore& store, const InputFence::Offsets& positions, UnixMs now) const {
  if (!application_.guards.timers_behind_input) return false;
  const auto missing = [&](const engine::Fence& fence, std::optional<UnixMs> at) {
    return at && *at <= now && fence_.lacks(fence, positions, *at, now);
  };
  if (missing(kAll, store.earliest_deadline()) || missing(kAll, expired_found_at_)) return true;
  if (!store.summary().counts.any_rare()) return false;
  const store::BatchView view(store);
  const engine::Moment moment{view, store.meta()->state, now};
  for (const engine::AgendaSource* source : application_.agenda())
    for (const engine::AgendaKind& kind : source->agenda())
      if (!kind.fence.open() && missing(kind.fence, source->next(kind.number, moment))) return true;
  return false;
}

std::optional<UnixMs> Chores::until(const engine::Fence& fence, const std::vector<InputPosition>& positions,
                                    UnixMs now) const {
  if (!application_.guards.timers_behind_input) return now;
  InputFence::Offsets next;
  std::transform(positions.begin(), positions.end(), next.begin(), [](const InputPosition& one) { return one.next; });
  return fence_.until(fence, next, now);
}

std::vector<driver::GateTurn> Chores::turns(const store::PartitionStore& store,
                                            const std::vector<InputPosition>& positions, UnixMs now,
                                            std::optional<UnixMs> deadlines_at, std::size_t inputs,
                                            std::span<const std::uint8_t> left_out, bool again) const {
  std::vector<driver::GateTurn> turns;
  const bool waits = store.summary().counts.any_rare();
  if (!waits && !(application_.keeps_under_way && inputs > 0)) return turns;
  const bool paused = store.meta()->state.paused;
  const store::BatchView view(store);
  const engine::Moment moment{view, store.meta()->state, now};
  for (const engine::AgendaSource* source : application_.agenda())
    for (const engine::AgendaKind& kind : source->agenda()) {
      if ((paused && !kind.while_paused) || (!deadlines_at && !kind.each_batch)) continue;
      const bool left = std::find(left_out.begin(), left_out.end(), kind.number) != left_out.end();
      if (left && !(again && kind.each_batch)) continue;
      const std::uint32_t rows = kind.each_batch ? dispatched_max(inputs) : kGateRowsMax;
      const auto next = waits ? source->next(kind.number, moment) : std::nullopt;
      const bool begins = kind.each_batch && inputs > 0;
      const auto until = next || begins ? this->until(kind.fence, positions, deadlines_at.value_or(now)) : std::nullopt;
      if (until && (begins || *next <= *until))
        turns.push_back({kind.number, source->until(kind.number, *until), rows});
    }
  std::sort(turns.begin(), turns.end(),
            [](const driver::GateTurn& a, const driver::GateTurn& b) { return a.kind < b.kind; });
  return turns;
}

// Whatever comes leaves with its batch if there is room. What waited before costs three times as much as an input, and
// the next urgent one waits for the end of the transaction.
std::uint32_t Chores::dispatched_max(std::size_t inputs) const {
  const auto waited = static_cast<std::size_t>(application_.settings.batch_records_max) / 4;
  return static_cast<std::uint32_t>(inputs + std::max<std::size_t>(kGateRowsMax, waited));
}

std::optional<UnixMs> Chores::next_date(const store::PartitionStore& store, UnixMs now) const {
  std::optional<UnixMs> first;
  if (!store.summary().counts.any_rare()) return first;
  const bool paused = store.meta()->state.paused;
  const store::BatchView view(store);
  const engine::Moment moment{view, store.meta()->state, now};
  for (const engine::AgendaSource* source : application_.agenda())
    for (const engine::AgendaKind& kind : source->agenda()) {
      const auto next = !paused || kind.while_paused ? source->next(kind.number, moment) : std::nullopt;
      if (next && *next > now && (!first || *next < *first)) first = next;
    }
  return first;
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
