// Nemesis: does the faults of a schedule, and heals them.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "tests/chaos/nemesis/faults.h"
#include "tests/chaos/nemesis/schedule.h"

namespace reseq::chaos {

class Nemesis {
 public:
  // REQUIRES: what the scene refers to outlives it.
  Nemesis(Scene scene, std::vector<FaultKind> kinds, std::vector<Planned> schedule);

  // Begins, continues and heals what is due. To be called often.
  void step();
  // Nothing is left to do.
  [[nodiscard]] bool done() const { return next_ == schedule_.size() && running_.empty(); }
  // Heals whatever is going on; nothing begins any more.
  void heal_all();

  [[nodiscard]] bool calm() const { return running_.empty(); }
  [[nodiscard]] std::uint64_t faults() const { return faults_; }
  // How often each kind was done.
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

  Scene scene_;
  std::vector<FaultKind> kinds_;
  std::vector<Planned> schedule_;
  std::size_t next_ = 0;
  std::list<Running> running_;
  Clock::time_point begun_ = Clock::now();
  std::uint64_t faults_ = 0;
  std::map<std::string_view, std::uint64_t> by_kind_;
};

}  // namespace reseq::chaos
