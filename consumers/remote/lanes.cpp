#include "consumers/remote/lanes.h"

#include <algorithm>
#include <utility>

namespace reseq::remote {

void Lanes::put(std::shared_ptr<Load> load) {
  const std::lock_guard lock(mutex_);
  bytes_ += load->bytes;
  waiting_.push_back(std::move(load));
  changed_.notify_all();
}

std::vector<Finished> Lanes::finished(std::chrono::milliseconds limit) {
  if (limit.count() == 0 && !some_finished_) return {};
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return !finished_.empty(); });
  some_finished_ = false;
  return std::exchange(finished_, {});
}

void Lanes::drop_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& load : waiting_) bytes_ -= load->bytes;
  waiting_.clear();
  for (const auto& load : running_) load->dropped = true;
  changed_.notify_all();
}

bool Lanes::settle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return running_.empty(); });
}

void Lanes::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

std::shared_ptr<Load> Lanes::take() {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Load> taken;
  changed_.wait(lock, [&] { return stopped_ || (taken = take_next()) != nullptr; });
  return taken;
}

std::shared_ptr<Load> Lanes::take_next() {
  for (auto place = waiting_.begin(); place != waiting_.end(); ++place) {
    std::size_t& of_lane = running_of_[(*place)->batch.partition];
    if (of_lane >= at_once_) continue;
    ++of_lane;
    std::shared_ptr<Load> taken = std::move(*place);
    waiting_.erase(place);
    running_.push_back(taken);
    return taken;
  }
  return nullptr;
}

bool Lanes::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return stopped_; });
}

bool Lanes::rest(const Load& load, std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return stopped_ || load.dropped; });
  return !stopped_ && !load.dropped;
}

void Lanes::give_back(Finished finished) {
  const std::lock_guard lock(mutex_);
  const Partition partition = finished.load->batch.partition;
  bytes_ -= finished.load->bytes;
  std::erase(running_, finished.load);
  --running_of_[partition];
  // What follows in the lane begins where this one would have ended; behind one that was dropped it was read anew.
  if (finished.outcome == Outcome::kFenced && !finished.load->dropped) {
    waiting_.remove_if([&](const std::shared_ptr<Load>& load) {
      if (load->batch.partition != partition) return false;
      bytes_ -= load->bytes;
      return true;
    });
  }
  finished_.push_back(std::move(finished));
  some_finished_ = true;
  changed_.notify_all();
}

std::size_t Lanes::running() const {
  const std::lock_guard lock(mutex_);
  return running_.size();
}

std::size_t Lanes::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

std::optional<Clock::time_point> Lanes::oldest() const {
  const std::lock_guard lock(mutex_);
  std::optional<Clock::time_point> oldest;
  for (const auto& load : waiting_) oldest = std::min(oldest.value_or(load->opened), load->opened);
  for (const auto& load : running_) oldest = std::min(oldest.value_or(load->opened), load->opened);
  return oldest;
}

}  // namespace reseq::remote
