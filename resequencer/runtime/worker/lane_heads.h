// LaneHeads: what strict and total targets of a partition wait for, and what is held back by that, as operators are
// told, also while it is taken over.
// Thread rule: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/row.h"
#include "model/target.h"
#include "runtime/worker/partition_task.h"
#include "runtime/worker/report.h"
#include "store/batch_view.h"

namespace reseq::runtime {

// Of all lanes, what is skipped next; none: nothing is, also where all that is waited for has a lease.
[[nodiscard]] std::optional<LaneHead> next_gap_of(const PartitionTask& task);

// Results that came before it was their turn.
struct HeldResults {
  std::uint64_t count = 0;
  bool more = false;  // they were counted so far only
};
// Nobody needs to know more of one document: `stats` counts all of them.
inline constexpr std::size_t kHeldCountedMax = 1'000;

// How a document stands in the lane of an ordered target in which it has a place.
struct LaneStanding {
  struct FirstHeld {
    Order order;
    UnixMs since;  // its request went to `work`; codec::kNever: it waits for that again
    UnixMs came;   // its result, as its record says
  };
  std::string target;
  std::optional<LaneHead> head;  // what its first place waits for: in a total lane that may be another document
  HeldResults held;              // of the document
  std::optional<FirstHeld> first_held;
  HeldResults blocks;  // of the lane, when its head is of this document and has no result
};

// Invariant: all of it is of one moment. REQUIRES: nothing is applied while it lives, and the task outlives it.
class LaneStandings {
 public:
  explicit LaneStandings(const PartitionTask& task)
      : view_(task.store()), targets_(task.store().targets()), any_held_(holds(task)) {}

  [[nodiscard]] std::vector<LaneStanding> of(std::string_view id, const Row& row);
  // Some result is held in some lane. Cheap.
  [[nodiscard]] bool any_held() const { return any_held_; }
  // Rows and indexes that were looked at.
  [[nodiscard]] std::size_t looked_at() const { return looked_at_; }

 private:
  [[nodiscard]] static bool holds(const PartitionTask& task);
  [[nodiscard]] std::optional<LaneHead> head_of(const Lane& lane, bool total);
  [[nodiscard]] HeldResults held_under(std::string_view prefix, std::optional<LaneStanding::FirstHeld>* first);

  store::BatchView view_;
  const TargetTable& targets_;
  bool any_held_;
  std::map<TargetNumber, std::optional<LaneHead>> of_partition_;  // heads of total lanes
  std::size_t looked_at_ = 0;
};

}  // namespace reseq::runtime
