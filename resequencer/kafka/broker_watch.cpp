#include "kafka/broker_watch.h"

#include <utility>

#include "base/log.h"

namespace reseq::kafka {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kAskAgain{1};
// Whoever looks at the log hours later finds the reason in its last minutes.
constexpr seconds kAwayAgainEvery{600};
// Requests that were on their way time out after the brokers are back.
constexpr seconds kSettling{15};
constexpr int kLogCritical = 2;
constexpr int kLogDebug = 7;

// Of connections, and of what was under way on them.
bool is_of_connections(std::string_view facility) {
  return facility == "FAIL" || facility == "ERROR" || facility == "REQTMOUT";
}

// Rights, partitions and the group: told once by the client, and looked for by whoever wants to know why nothing is
// read.
bool is_of_what_is_read(std::string_view facility) {
  return facility == "POLL" || facility == "PARTCNT" || facility == "FETCH" || facility == "REBALANCE" ||
         facility == "MAXPOLL";
}

std::int64_t seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<seconds>(std::chrono::steady_clock::now() - begin).count();
}

void write_folded(std::string_view facility, std::string_view text) {
  if (spdlog::should_log(spdlog::level::debug))
    spdlog::debug("librdkafka={} text={}", log::outside(facility), log::outside(text));
}

}  // namespace

BrokerWatch::BrokerWatch(std::function<Result<>()> ask, LogCallback write)
    : ask_(std::move(ask)), write_(std::move(write)), thread_([this] { run(); }) {}

BrokerWatch::~BrokerWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
  away_ ? fold_held() : write_held();
}

std::optional<BrokersAway> BrokerWatch::away() const {
  const std::lock_guard lock(mutex_);
  if (!away_) return std::nullopt;
  const auto since = std::chrono::duration_cast<milliseconds>(away_->wall.time_since_epoch());
  const auto lasts = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - away_->steady);
  return BrokersAway{UnixMs(since.count()), Milliseconds(lasts.count()), why_};
}

void BrokerWatch::take(int level, std::string_view facility, std::string_view text) {
  // What was asked for with `debug`, and what ends a client, is never folded.
  if (level <= kLogCritical || level >= kLogDebug || facility == "FATAL" || is_of_what_is_read(facility))
    return write_(level, facility, text);
  {
    const std::lock_guard lock(mutex_);
    const bool settling = settled_at_ && SteadyClock::now() < *settled_at_;
    if (away_ || settling) {
      ++folded_;
      return write_folded(facility, text);
    }
    if (is_of_connections(facility)) return hold(level, facility, text);
  }
  write_(level, facility, text);
}

void BrokerWatch::hold(int level, std::string_view facility, std::string_view text) {
  if (held_.empty()) doubt_ = {std::chrono::system_clock::now(), SteadyClock::now()};
  if (held_.size() < kHeldMax)
    held_.push_back({level, std::string(facility), std::string(text)});
  else
    ++held_more_;
  changed_.notify_one();
}

void BrokerWatch::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!away_) changed_.wait(lock, [this] { return stop_ || !held_.empty(); });
    if (stop_) return;
    lock.unlock();
    const auto asked = ask_();
    lock.lock();
    asked ? answered() : unanswered(asked.error());
    changed_.wait_for(lock, kAskAgain, [this] { return stop_; });
  }
}

void BrokerWatch::answered() {
  if (!away_) return write_held();
  spdlog::info("brokers=back seconds={} lines_folded={}", seconds_since(away_->steady), folded_);
  away_.reset();
  folded_ = 0;
  settled_at_ = SteadyClock::now() + kSettling;
}

void BrokerWatch::unanswered(const Error& error) {
  const auto now = SteadyClock::now();
  const bool is_new = !away_;
  if (is_new) away_ = doubt_;
  why_ = error.message;
  fold_held();
  if (!is_new && now - told_at_ < kAwayAgainEvery) return;
  told_at_ = now;
  spdlog::warn("brokers=away seconds={} everything waits for them, nothing is lost error={}",
               seconds_since(away_->steady), log::outside(why_));
}

void BrokerWatch::write_held() {
  for (const Line& line : held_) write_(line.level, line.facility, line.text);
  if (held_more_ > 0) write_(kLogWarning, "ERROR", std::to_string(held_more_) + " more lines about connections");
  held_.clear();
  held_more_ = 0;
}

void BrokerWatch::fold_held() {
  for (const Line& line : held_) write_folded(line.facility, line.text);
  folded_ += held_.size() + held_more_;
  held_.clear();
  held_more_ = 0;
}

}  // namespace reseq::kafka
