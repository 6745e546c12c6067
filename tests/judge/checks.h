// Checks: what must be true of the topics of an application whatever its producers asked for.
// Thread rule: plain functions; Tiles is used by one thread.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "runtime/application/application.h"
#include "tests/judge/fold.h"
#include "tests/judge/history.h"
#include "tests/judge/replay.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

// Versions rise in each partition of each output.
void check_versions(const runtime::Application& application, const History& history, Verdict& verdict);

// The rows that are left of the changelog of a partition. Every meta row in it must say what the rows are.
[[nodiscard]] Fold check_fold(const runtime::Application& application, const History& history, Partition partition,
                              Verdict& verdict);

// Nothing that a gate held is left.
void check_nothing_waits(Partition partition, const Fold& fold, Verdict& verdict);

// No timer of the batch fired, and no turn of a gate was taken, while an input that stood in the log at its deadline
// was not decided.
// REQUIRES: all clocks are right, and records carry the time at which they came into the log.
void check_timers(const runtime::Application& application, const History& history, Partition partition,
                  const ReplayedBatch& batch, Verdict& verdict);

// Every input was decided once, in order: the ranges of the meta rows tile each input from its first record to its
// last. Owners follow each other: a generation begins behind everything that those before it wrote. While a partition
// is paused no input but operations is decided; timers go on as far as nothing is unread.
class Tiles {
 public:
  Tiles(const runtime::Application& application, const History& history, Partition partition, Verdict& verdict)
      : application_(application), history_(history), partition_(partition), verdict_(verdict) {}

  void take(const ReplayedBatch& batch);
  void finish();

 private:
  void take_birth(const Meta& meta);
  void follow(const ReplayedBatch& batch);
  void wrong(const std::string& what);

  const runtime::Application& application_;
  const History& history_;
  Partition partition_;
  Verdict& verdict_;
  std::optional<Meta> before_;
  Offset before_at_;
};

// The group must have committed the positions of the last meta rows, neither more nor less. `states`: by partition.
void check_offsets(const runtime::Application& application, const std::map<Place, Offset>& committed,
                   const std::vector<Fold>& states, Verdict& verdict);

// Next offset to read; kNoOffset when the meta row does not say.
[[nodiscard]] Offset position_of(const Meta& meta, Role role);

}  // namespace reseq::judge
