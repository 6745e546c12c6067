#include "runtime/worker/bad_records.h"

#include <algorithm>

namespace reseq::runtime {

namespace {

// What the thresholds are compared with.
struct Level {
  std::uint64_t bad = 0;
  double share = 0;
  double per_s = 0;

  [[nodiscard]] bool reaches(double part) const {
    return static_cast<double>(bad) >= part * static_cast<double>(BadRecords::kRaiseAtLeast) &&
           (share >= part * BadRecords::kRaiseShare || per_s >= part * BadRecords::kRaisePerSecond);
  }
};

}  // namespace

std::optional<BadRecordsAlarm> BadRecords::look(Milliseconds now, std::uint64_t inputs, const CountsByReason& bad) {
  if (!samples_.empty() && now.value() - samples_.back().at.value() < kStep.value()) return std::nullopt;
  samples_.push_back({now, inputs, bad});
  keep_window(samples_, now, kWindow);
  const Sample& first = samples_.front();

  BadRecordsAlarm alarm;
  Level level;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const std::uint64_t count = bad[i] - first.bad[i];
    level.bad += count;
    if (count <= most) continue;
    most = count;
    alarm.reason = static_cast<Reason>(i);
  }
  // A window that is younger counts as a whole one: a few records behind a start are no rate.
  const std::int64_t window_ms = std::max(kWindow.value(), now.value() - first.at.value());
  level.per_s = static_cast<double>(level.bad) * 1000 / static_cast<double>(window_ms);
  if (inputs > first.inputs) level.share = static_cast<double>(level.bad) / static_cast<double>(inputs - first.inputs);
  per_s_ = alarm.per_s = level.per_s;
  alarm.share = level.share;

  const auto state = run_.look(now, level.reaches(1), !level.reaches(kClearAt));
  if (!state) return std::nullopt;
  alarm.state = *state;
  return alarm;
}

}  // namespace reseq::runtime
