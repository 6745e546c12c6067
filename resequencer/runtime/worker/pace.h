// Pace: how long what is under way still takes, judged by how far it came since the last look and by nothing before: a
// rate since the start would still believe in the minute in which nothing could be read.
//
// CatchUp: the backlog of a worker. A partition is far behind its inputs when, at its pace, it needs longer than from
// one look to the next. The time left is that of all partitions together: they share the worker, and take turns.
// Both are told facts that the worker has anyway; they ask nobody.
// Thread rule: one worker.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.h"

namespace reseq::runtime {

class Pace {
 public:
  // `left`: what is still to do, in any unit.
  void begin(Milliseconds now, std::int64_t left);

  // Seconds until nothing is left, rounded up, and where the next look begins. Nothing: it came no nearer, for instance
  // because as much was added.
  [[nodiscard]] std::optional<std::int64_t> look(Milliseconds now, std::int64_t left);

 private:
  Milliseconds at_;
  std::int64_t left_ = 0;
};

class CatchUp {
 public:
  // One partition. Offsets are counted over all inputs: records, and the transaction markers between them.
  struct Seen {
    Partition partition;
    std::int64_t decided = 0;  // next offsets to decide, added up
    std::int64_t left = 0;     // from there to the ends
  };
  struct Report {
    std::vector<Partition> behind;  // none: not any more, which is told once
    std::int64_t left = 0;          // of all partitions, as the rest
    std::int64_t decided_per_s = 0;
    std::optional<std::int64_t> seconds_left = {};
    std::int64_t seconds = 0;  // since one was first seen behind
  };

  // Something to tell, or nothing: none is far behind, or there is nothing to compare with yet. `seen`: all partitions
  // that run; after a change of them it compares anew.
  [[nodiscard]] std::optional<Report> look(Milliseconds now, const std::vector<Seen>& seen);

 private:
  Milliseconds at_;
  std::vector<Seen> before_;
  Pace pace_;
  std::optional<Milliseconds> behind_since_;
};

// So many offsets are worked off at once: never "far behind".
inline constexpr std::int64_t kFarBehindMin = 1000;

}  // namespace reseq::runtime
