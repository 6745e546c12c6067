// Chronicle: what happened in a run, with its time: every fault, every end of a process, every violation. It also holds
// what the faults of the moment excuse: an excuse is pieces of the text that would be a violation without it.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reseq::chaos {

using Words = std::vector<std::string>;

class Chronicle {
 public:
  // `file`: gets one line for each note. Throws when it cannot be written.
  explicit Chronicle(const std::string& file);

  void note(const std::string& line);
  void violation(const std::string& what);
  // A violation, unless it is excused.
  void complain(const std::string& what);

  // Until end_excuse(): a complaint with all these words is what the fault is expected to cause. Returns its number.
  std::uint64_t excuse(Words words);
  // Some time later it is over: what was caused may be told late.
  void end_excuse(std::uint64_t number);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Excuse {
    std::uint64_t number = 0;
    Words words;
    std::optional<Clock::time_point> until = {};
  };

  std::ofstream file_;
  Clock::time_point begin_ = Clock::now();
  std::list<Excuse> excuses_;
  std::uint64_t next_ = 1;
  std::vector<std::string> violations_;
};

}  // namespace reseq::chaos
