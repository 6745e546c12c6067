#include "consumers/remote/catching_up.h"

namespace reseq::remote {

std::optional<std::string> CatchingUp::look(std::int64_t lag, std::uint64_t done, Clock::time_point now) {
  if (!is_behind_) {
    if (lag < kBehind) return std::nullopt;
    is_behind_ = true;
    done_at_begin_ = done_at_last_ = done;
    last_ = now;
    return "catching_up=begun left=" + std::to_string(lag);
  }
  if (lag < kBehind) {
    is_behind_ = false;
    return "catching_up=done records=" + std::to_string(done - done_at_begin_) + " left=" + std::to_string(lag);
  }
  if (now - last_ < kTellEvery) return std::nullopt;
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const double rate = static_cast<double>(done - done_at_last_) / seconds;
  const auto since_begin = static_cast<double>(done - done_at_begin_);
  const double percent = 100.0 * since_begin / (since_begin + static_cast<double>(lag));
  last_ = now;
  done_at_last_ = done;
  std::string line = "catching_up=" + std::to_string(static_cast<int>(percent)) + "% left=" + std::to_string(lag) +
                     " rate=" + std::to_string(static_cast<std::int64_t>(rate)) + "/s";
  if (rate >= 1) line += " seconds_left=" + std::to_string(static_cast<std::int64_t>(static_cast<double>(lag) / rate));
  return line;
}

}  // namespace reseq::remote
