// Survey: how many documents of a partition wait for how long, and which wait longest. Nothing indexes that, so all
// rows are looked at, a small piece at a time; what the last whole pass has found is told.
// Invariants: a piece is bounded, whatever the state's size; it changes nothing.
// Thread rule: one worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/row.h"
#include "store/partition_store.h"

namespace reseq::runtime {

class Survey {
 public:
  struct Waiting {
    std::string id;
    UnixMs since;
    bool overdue = false;
    bool starving = false;
  };
  struct ForTarget {
    std::uint64_t waiting = 0;
    std::uint64_t overdue = 0;
    std::optional<UnixMs> oldest;  // since when the document waits that waits for it longest
  };
  struct Found {
    std::uint64_t overdue = 0;
    std::uint64_t starving = 0;
    std::optional<UnixMs> oldest;    // since when it waits that got nothing for longest
    std::vector<Waiting> longest;    // the first of them, at most kLongestMax, those with a long id left out
    std::vector<ForTarget> targets;  // by target number, up to the highest that a document waits for
    UnixMs at;                       // when the pass ended
  };
  // A piece is about a quarter of a millisecond when most rows are watermarks.
  static constexpr std::size_t kPieceRows = 2000;
  // What is told of single documents stays small, however long ids are.
  static constexpr std::size_t kLongestMax = 10;
  static constexpr std::size_t kLongestIdBytes = 256;
  // From the end of a pass to the next one.
  static constexpr Milliseconds kPause{1'000};

  [[nodiscard]] bool due(Milliseconds steady) const { return steady >= next_at_; }
  // The next piece. `starvation_after` 0: nothing starves.
  void look(const store::PartitionStore& store, Milliseconds steady, UnixMs now, Milliseconds starvation_after);
  // Of the last whole pass, if there was one.
  [[nodiscard]] const std::optional<Found>& found() const { return found_; }

 private:
  void note_targets(const Row& row, UnixMs now);
  void note(const std::string& id, const Row& row, UnixMs now, Milliseconds starvation_after);

  std::string cursor_;
  Found so_far_;
  std::optional<Found> found_;
  Milliseconds next_at_;
};

// Targets that wait and got nothing for at least `starvation_after`, which 0 makes none, while newer requests came. Not
// those that it serves, nor those whose pipeline only takes its time.
[[nodiscard]] TargetSet starving_targets(const Row& row, UnixMs now, Milliseconds starvation_after);

}  // namespace reseq::runtime
