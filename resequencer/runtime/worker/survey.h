// Survey: how many documents of a partition wait for how long, which wait longest, and what failed of which error.
// Nothing indexes that, so all rows are looked at, a small piece at a time; what the last whole pass has found is told.
// Invariants: a piece is bounded, whatever the state's size; it changes nothing.
// Thread rule: one worker.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/context.h"
#include "model/ids.h"
#include "model/row.h"
#include "runtime/worker/failure_groups.h"
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
  // Of one priority, orders that wait for their dispatch although their date has come.
  struct Due {
    std::uint8_t priority = 0;
    UnixMs since;  // the first of these dates
    friend bool operator==(const Due&, const Due&) = default;
  };
  struct Found {
    std::uint64_t overdue = 0;
    std::uint64_t starving = 0;
    std::optional<UnixMs> oldest;    // since when it waits that got nothing for longest
    std::vector<Waiting> longest;    // the first of them, at most kLongestMax, those with a long id left out
    std::vector<ForTarget> targets;  // by target number, up to the highest that a document waits for
    std::vector<Due> due;            // rising priorities
    std::uint64_t stuck = 0;         // documents with an order that nobody answers for
    // Shared, because what is told is copied often; null: nothing has failed. Without `[failures]` what failed for good
    // is not looked for.
    std::shared_ptr<const FailureGroups> failures;
    UnixMs at;  // when the pass ended
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
  void look(const store::PartitionStore& store, Milliseconds steady, UnixMs now, Milliseconds starvation_after,
            const engine::DispatchRules& dispatch);
  // Of the last whole pass, if there was one.
  [[nodiscard]] const std::optional<Found>& found() const { return found_; }

 private:
  void note_targets(const Row& row, UnixMs now);
  void note_journal(const Row& row, UnixMs now, const engine::DispatchRules& dispatch);
  void note(const std::string& id, const Row& row, UnixMs now, Milliseconds starvation_after);
  void note_failures(const std::string& id, const Row& row);

  std::string cursor_;
  Found so_far_;
  std::optional<FailureGroups> failures_so_far_;
  std::optional<Found> found_;
  Milliseconds next_at_;
};

// Targets that wait and got nothing for at least `starvation_after`, which 0 makes none, while newer requests came. Not
// those that it serves, nor those whose pipeline only takes its time.
[[nodiscard]] TargetSet starving_targets(const Row& row, UnixMs now, Milliseconds starvation_after);

// Its lease was lost so often while nobody was answered that it is tried behind all others.
[[nodiscard]] bool is_order_stuck(const JournalEntry& entry, const engine::DispatchRules& dispatch);
// An order of the document is.
[[nodiscard]] bool is_document_stuck(const Row& row, const engine::DispatchRules& dispatch);

// What an order that waits for its dispatch waits for.
enum class Obstacle : std::uint8_t {
  kTurn,        // nothing but what stands before it in the queue
  kDate,        // its own
  kOlderOrder,  // of the document, which is under way
  kIdle,        // that nothing more urgent is under way
  kRoom,        // as many documents are under way as may be
  kTarget,      // that it can be reached: it is not tried now
  kCount
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Obstacle::kCount)> kObstacleNames = {
    "turn", "date", "older_order", "idle", "room", "target"};
[[nodiscard]] constexpr std::string_view name_of(Obstacle obstacle) {
  return kObstacleNames[static_cast<std::size_t>(obstacle)];
}
// When an order that waits may leave: its date has come, and its consolidation is over.
[[nodiscard]] UnixMs due_of(const JournalEntry& entry, const engine::DispatchRules& dispatch);
// The first that applies. `priorities`: documents of the partition (Summary); `breakers`: of it, too.
[[nodiscard]] Obstacle obstacle_of(const Row& row, const JournalEntry& entry, UnixMs now,
                                   const engine::DispatchRules& dispatch, std::span<const PriorityCount> priorities,
                                   const std::vector<Breaker>& breakers);
// So many documents of a partition are under way.
[[nodiscard]] std::uint64_t documents_under_way(std::span<const PriorityCount> priorities);

}  // namespace reseq::runtime
