#include "runtime/worker/pace.h"

#include <algorithm>
#include <utility>

namespace reseq::runtime {

void Pace::begin(Milliseconds now, std::int64_t left) {
  at_ = now;
  left_ = left;
}

std::optional<std::int64_t> Pace::look(Milliseconds now, std::int64_t left) {
  const std::int64_t spent_ms = now.value() - std::exchange(at_, now).value();
  const std::int64_t done = std::exchange(left_, left) - left;
  if (spent_ms <= 0 || done <= 0) return std::nullopt;
  constexpr std::int64_t kMsPerS = 1000;
  return (left * spent_ms + done * kMsPerS - 1) / (done * kMsPerS);
}

std::optional<CatchUp::Report> CatchUp::look(Milliseconds now, const std::vector<Seen>& seen) {
  const Milliseconds at = std::exchange(at_, now);
  const std::vector<Seen> before = std::exchange(before_, seen);
  Report report;
  std::int64_t decided = 0;
  for (const Seen& one : seen) report.left += one.left;
  const bool same = std::equal(seen.begin(), seen.end(), before.begin(), before.end(),
                               [](const Seen& a, const Seen& b) { return a.partition == b.partition; });
  if (!same || seen.empty()) {
    pace_.begin(now, report.left);
    behind_since_.reset();
    return std::nullopt;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::int64_t step = seen[i].decided - before[i].decided;
    if (seen[i].left > kFarBehindMin && seen[i].left > step) report.behind.push_back(seen[i].partition);
    decided += step;
  }
  const std::int64_t spent_ms = now.value() - at.value();
  report.decided_per_s = spent_ms > 0 ? decided * 1000 / spent_ms : 0;
  report.seconds_left = pace_.look(now, report.left);
  if (report.behind.empty() && !behind_since_) return std::nullopt;
  if (!behind_since_) behind_since_ = at;
  report.seconds = (now.value() - behind_since_->value()) / 1000;
  if (report.behind.empty()) behind_since_.reset();
  return report;
}

}  // namespace reseq::runtime
