// Nemesis: does the faults of a schedule, heals them, and counts those that did anything.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "tests/chaos/nemesis/faults.h"
#include "tests/chaos/nemesis/schedule.h"

namespace reseq::chaos {

class Nemesis {
 public:
  // Does a fault of a kind, with what it draws from.
  using Do = std::function<Harm(const FaultKind&, simulation::Draw&)>;

  // REQUIRES: the chronicle outlives it.
  Nemesis(Chronicle& chronicle, std::vector<FaultKind> kinds, std::vector<Planned> schedule, Do harm);

  // Begins, continues and heals what is due. To be called often.
  void step();
  // Nothing is left to do.
  [[nodiscard]] bool done() const { return next_ == schedule_.size() && running_.empty(); }
  // Heals whatever is going on; nothing begins any more.
  void heal_all();

  [[nodiscard]] bool calm() const { return running_.empty(); }
  // Those that are healed and did something.
  [[nodiscard]] std::uint64_t faults() const { return faults_; }
  // Those that found nothing to harm.
  [[nodiscard]] std::uint64_t in_vain() const { return in_vain_; }
  // How often each kind did something.
  [[nodiscard]] const std::map<std::string_view, std::uint64_t>& by_kind() const { return by_kind_; }

 private:
  struct Running {
    const FaultKind* kind;
    Harm harm;
    std::chrono::milliseconds end;
    std::vector<std::uint64_t> excuses;
  };
  void begin(const Planned& planned);
  void end(Running& running);
  [[nodiscard]] std::chrono::milliseconds passed() const;

  Chronicle& chronicle_;
  std::vector<FaultKind> kinds_;
  std::vector<Planned> schedule_;
  Do do_;
  std::size_t next_ = 0;
  std::list<Running> running_;
  Clock::time_point begun_ = Clock::now();
  std::uint64_t faults_ = 0;
  std::uint64_t in_vain_ = 0;
  std::map<std::string_view, std::uint64_t> by_kind_;
};

}  // namespace reseq::chaos
