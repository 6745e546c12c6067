// MarkerRepair: follows the log of one broker over its lives, and writes the markers that it has skipped as long as no
// client can have begun another transaction (skipped_markers.h).
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <ios>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/chaos/cluster/skipped_markers.h"

namespace reseq::chaos {

// What a run has to tell of it.
struct MarkerNews {
  std::vector<std::string> healed;
  std::vector<std::string> wrong;  // violations: transactions that are broken now, or may be
};

class MarkerRepair {
 public:
  using Clock = std::chrono::steady_clock;
  // Port of the broker that leads the partition; 0 = nobody.
  using LeaderPort = std::function<std::uint16_t(const NamedPartition&)>;

  // `alone`: no other broker can be the next coordinator, so what a term has left undone is seen in this log. With
  // others it is theirs.
  MarkerRepair(int broker, std::string log_file, bool alone)
      : broker_(broker), log_file_(std::move(log_file)), alone_(alone) {}

  // Clients are kept away from it. Writes what was skipped. True: there is nothing left to do, or no use in trying.
  // REQUIRES: no partition has lost its leader since they were asked for; before that it might skip more.
  [[nodiscard]] bool heal(const LeaderPort& leader_port, MarkerNews& news);
  // Clients may go on: whatever was skipped and not written yet cannot be put right any more.
  void give_up(MarkerNews& news);
  // It is dead, and its next life begins: its log is about to be moved away. What is not written yet stays to be done.
  void begin_life();

 private:
  void read();
  void write(Skipped& skipped, const LeaderPort& leader_port, MarkerNews& news);
  [[nodiscard]] std::string text(const Skipped& skipped, const std::vector<NamedPartition>& partitions) const;

  int broker_;
  std::string log_file_;
  bool alone_;
  std::streamoff offset_ = 0;  // of the first line that was not read
  SkippedMarkers skipped_;
  std::optional<Clock::time_point> until_;  // while something is to be written
};

}  // namespace reseq::chaos
