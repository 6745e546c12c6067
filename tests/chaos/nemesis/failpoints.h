// Failpoints: which of them a process is to die at next, and how often one died where. Each round is all names in a
// drawn order, so that every point gets its turn; a point that was not reached comes again.
// Hunt: one process, armed with one point, given what the point needs, until it died there or too long went by.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/chaos/nemesis/crew.h"
#include "tests/chaos/proxy/proxy.h"
#include "tests/simulation/kafka/draw.h"

namespace reseq::chaos {

class Failpoints {
 public:
  Failpoints(std::vector<std::string> names, std::uint64_t seed);

  // Each point is wanted so often, and no more. The birth of partitions is met only while the application is new, by
  // who joins first: it is hunted first, in all processes at once.
  void want(std::uint64_t kills);
  // Another one of those that hunt it may have died there meanwhile.
  [[nodiscard]] bool is_wanted(const std::string& name) const;
  // Nothing: all that are wanted were met, or are being hunted.
  [[nodiscard]] std::optional<std::string> next();
  void missed(const std::string& name);
  void died(const std::string& name);
  void withdrawn(const std::string& name);

  [[nodiscard]] const std::map<std::string, std::uint64_t>& kills() const { return kills_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& misses() const { return misses_; }
  [[nodiscard]] std::uint64_t fewest() const;
  [[nodiscard]] std::uint64_t deaths() const { return deaths_; }
  // One line per point.
  [[nodiscard]] std::string table() const;

 private:
  std::vector<std::string> names_;
  simulation::Draw draw_;
  std::deque<std::string> waiting_;
  std::multiset<std::string> hunted_;
  std::map<std::string, std::uint64_t> kills_;
  std::map<std::string, std::uint64_t> misses_;
  std::uint64_t deaths_ = 0;
  std::uint64_t wanted_ = UINT64_MAX;
  std::uint64_t births_wanted_ = 0;
};

// Names of the points that the program knows, from its subcommand `failpoints`. Throws when it does not answer.
[[nodiscard]] std::vector<std::string> ask_failpoints(const std::string& program, const std::string& folder);

// What a hunt may use to bring a process to its point.
struct HuntMeans {
  Chronicle& chronicle;
  Member& guest;
  Proxy& proxy;
  std::string transactional_ids;  // pattern of the process
  const std::set<int>& born;      // partitions
};

class Hunt {
 public:
  // Kills the process if it runs: it has to start with the point (of next()) in its environment.
  Hunt(Failpoints& points, std::string point, Member& member, HuntMeans means, simulation::Draw& draw);

  [[nodiscard]] const std::string& what() const { return what_; }

  // To be called often. It gives the point what it needs: a signal, a guest, requests that get lost.
  void step();
  // It died there, it was given up, or another process died there often enough.
  [[nodiscard]] bool over() const { return over_; }
  void give_up();

 private:
  enum class Need : unsigned char { kNothing, kPoison, kExchange, kStop, kWakeUp, kLoseReply, kGuest };
  [[nodiscard]] static Need need_of(std::string_view point);
  [[nodiscard]] bool of_copies() const { return need_ == Need::kPoison || need_ == Need::kExchange; }
  void begin_life();
  void provide();
  void wake_up();
  void note_end();
  void withdraw();
  void disarm();
  void finish();

  Failpoints& points_;
  Member& member_;
  HuntMeans means_;
  std::string point_;
  std::string plan_;
  std::string what_;
  std::uint64_t ends_before_ = 0;
  Need need_;
  bool provided_ = false;
  RuleId rule_ = 0;
  std::uint64_t excuse_ = 0;
  bool guest_runs_ = false;
  std::optional<Clock::time_point> paused_at_;
  bool over_ = false;
  Clock::time_point begun_ = Clock::now();
};

}  // namespace reseq::chaos
