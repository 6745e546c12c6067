// How far a worker is with what takes longer than a few seconds: restores and the backlog of its inputs.
#include <algorithm>

#include "base/log.h"
#include "runtime/worker/worker.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kLogProgressEvery{5000};

std::string text_of(std::optional<std::int64_t> seconds) {
  return seconds ? std::to_string(*seconds) : "unknown";
}

std::string text_of(const std::vector<Partition>& partitions) {
  std::string text;
  for (const Partition partition : partitions) {
    if (!text.empty()) text += ',';
    text += std::to_string(partition.value());
  }
  return text;
}

}  // namespace

void Worker::log_progress() {
  if (clock_.steady().value() - progress_logged_at_.value() < kLogProgressEvery.value()) return;
  progress_logged_at_ = clock_.steady();
  log_restores();
  log_backlog();
}

// One line for all, because they share the reader and take turns: the time left of one alone would jump.
void Worker::log_restores() {
  std::vector<Partition> now;
  std::int64_t left = 0;
  for (const auto& task : tasks_) {
    if (!restorer_->restoring(task->partition())) continue;
    const changelog::Progress& progress = restorer_->progress(task->partition());
    if (progress.transaction_open || progress.position >= progress.target) continue;
    now.push_back(task->partition());
    left += progress.target.value() - progress.position.value();
  }
  // What is done since the last look has nothing left; what has begun since was not in it.
  const bool more = !std::includes(restoring_.begin(), restoring_.end(), now.begin(), now.end());
  const auto seconds = restore_pace_.look(progress_logged_at_, left);
  restoring_ = now;
  if (now.empty()) return;
  spdlog::info("takeover=restore partitions={} offsets_left={} seconds_left={}", text_of(now), left,
               text_of(more ? std::nullopt : seconds));
}

// From ends that came with what was read: nobody is asked.
void Worker::log_backlog() {
  std::vector<CatchUp::Seen> seen;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kRunning || task->paused()) continue;
    CatchUp::Seen& one = seen.emplace_back(CatchUp::Seen{.partition = task->partition()});
    for (const Role role : kInputs) {
      if (role == Role::kRequests && task->requests_stopped()) continue;  // its end is of the past
      const auto end = consumer_->known_end({application_.topics.of(role), task->partition()});
      const Offset decided = task->queue().decided(role);
      one.decided += decided.value();
      if (end && *end > decided) one.left += end->value() - decided.value();
    }
  }
  const auto report = catch_up_.look(progress_logged_at_, seen);
  if (!report) return;
  if (report->behind.empty()) return spdlog::info("catch_up=done seconds={}", report->seconds);
  spdlog::info("catch_up=behind partitions={} offsets_left={} offsets_per_s={} seconds_left={}",
               text_of(report->behind), report->left, report->decided_per_s, text_of(report->seconds_left));
}

}  // namespace reseq::runtime
