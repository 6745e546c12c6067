// ProgressLine: how far the demo is, with the time left; a line that is redrawn on a terminal, a line now and then
// elsewhere.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace reseq::demo {

// Time left at the pace of the last part of the run; empty while nothing can be told.
[[nodiscard]] std::string progress_text(std::uint64_t done, std::uint64_t whole, std::chrono::seconds elapsed,
                                        const std::string& phase);

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { end(); }

  // `done` of `whole` steps; a `whole` of 0 means that it is not known yet.
  void show(std::uint64_t done, std::uint64_t whole, const std::string& phase);
  // Leaves the line, so that other text can follow.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool open_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point shown_{};
};

}  // namespace reseq::demo
