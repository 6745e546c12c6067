// BrokerWatch: whether the brokers answer at all, for the whole process, and one voice instead of many while they do
// not (docs/decisions/0125-brokers-away.md).
//
//   fine      nothing is held, and nobody asks
//   doubt     a client has told of trouble with its connections: that is held until the brokers were asked, by a client
//             of our own. They answer: what is held is written, one of several may be gone
//   away      nobody has answered: one line. What clients tell goes to level debug. Asked again every second
//   settling  they are back, in one line; for a while clients still tell of what was
//
// Invariants: what is held is bounded; a client that goes on about a broker is never kept waiting.
// Thread rule: any thread; it has one of its own, which sleeps while all is fine.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kafka/settings.h"
#include "model/ids.h"

namespace reseq::kafka {

// Since when no broker answers, and why, for a person.
struct BrokersAway {
  UnixMs since;
  Milliseconds lasts;
  std::string why;
};

class BrokerWatch {
 public:
  static constexpr std::size_t kHeldMax = 64;
  static constexpr Milliseconds kAskLimit{3'000};

  // `ask`: whether the brokers answer within kAskLimit, called by the thread; an error says why not. `write`: a line of
  // a client, as it came; of one that is folded, nothing but level debug.
  BrokerWatch(std::function<Result<>()> ask, LogCallback write);
  // Writes what it holds. REQUIRES: no client tells anything any more.
  ~BrokerWatch();
  BrokerWatch(const BrokerWatch&) = delete;
  BrokerWatch& operator=(const BrokerWatch&) = delete;

  // What a client tells, instead of a line in the log.
  void take(int level, std::string_view facility, std::string_view text);
  [[nodiscard]] std::optional<BrokersAway> away() const;

 private:
  using SteadyClock = std::chrono::steady_clock;
  struct Moment {
    std::chrono::system_clock::time_point wall;
    SteadyClock::time_point steady;
  };
  struct Line {
    int level;
    std::string facility;
    std::string text;
  };

  void run();
  void answered();
  void unanswered(const Error& error);
  void hold(int level, std::string_view facility, std::string_view text);
  void write_held();
  void fold_held();

  std::function<Result<>()> ask_;
  LogCallback write_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Line> held_;
  std::uint64_t held_more_ = 0;  // that there was no room for
  Moment doubt_;
  std::optional<Moment> away_;
  std::string why_;
  SteadyClock::time_point told_at_;  // that they are away
  std::uint64_t folded_ = 0;         // lines, since they are away
  std::optional<SteadyClock::time_point> settled_at_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace reseq::kafka
