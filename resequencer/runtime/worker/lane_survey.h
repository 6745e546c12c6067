// LaneSurvey: of each strict and total target of a partition, what it waits for and what is held for it. No sums are
// kept of that, so all places are looked at, a small piece at a time; what the last whole pass has found is told.
// Invariants: a piece is bounded, however many places there are; it changes nothing. Without places nothing is done.
// Thread rule: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "codec/place_row.h"
#include "model/ids.h"
#include "model/order.h"
#include "store/partition_store.h"

namespace reseq::runtime {

// What a lane waits for.
struct LaneHead {
  std::string target;
  std::string id;
  Order order;
  UnixMs since;       // it went to `work`; codec::kNever: it waits for that
  UnixMs skipped_at;  // codec::kNever: it is not, as long as that is so; 0: its result is here, it leaves

  [[nodiscard]] bool leaves() const { return skipped_at == UnixMs(); }
};

class LaneSurvey {
 public:
  // Of one target, in all of its lanes.
  struct Lanes {
    std::uint64_t places = 0;
    std::uint64_t held = 0;  // of them: their results are here
    std::uint64_t held_bytes = 0;
    std::uint64_t gaps = 0;  // lanes whose heads wait while results are held behind them
    // Of these heads the one that is skipped first; without one of all that wait.
    std::optional<LaneHead> head;
  };
  using Found = std::map<std::string, Lanes>;  // by target

  static constexpr std::size_t kPieceRows = 1'000;
  // From the end of a pass to the next one.
  static constexpr Milliseconds kPause{1'000};

  [[nodiscard]] bool due(Milliseconds steady) const { return steady >= next_at_; }
  // The next piece.
  void look(const store::PartitionStore& store, Milliseconds steady);
  // Of the last whole pass; null: there was none, or there was nothing.
  [[nodiscard]] const std::shared_ptr<const Found>& found() const { return found_; }

 private:
  void note(const store::PartitionStore& store, std::string_view key, const codec::PlaceRow& place);
  void end_pass(Milliseconds steady);

  std::string cursor_;
  Found so_far_;
  // The strict lane that the walk is in, by the beginning of its keys; its head, if that waits and nothing held was met
  // behind it so far.
  std::string lane_;
  std::optional<LaneHead> lane_head_;
  std::map<std::string, LaneHead> first_gaps_;  // of strict targets, as `head` says
  std::set<std::string> total_head_waits_;      // targets
  std::shared_ptr<const Found> found_;
  Milliseconds next_at_;
};

}  // namespace reseq::runtime
