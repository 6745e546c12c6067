// Queue: what waits, in the order of ranks. The committed state has two indexes of it: one by ranks alone, for who has
// no failures, and one by sets of targets, so that all that a breaker blocks is passed over at once; their runs are
// merged. In a batch, what it has changed stands between them.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/context.h"
#include "engine/gate_numbers.h"
#include "engine/journal/rank.h"
#include "engine/overlay.h"
#include "engine/state_view.h"
#include "model/target.h"

namespace reseq::engine {

inline constexpr GateNumbers kFailureNumbers = gate_numbers("failures");
inline constexpr std::uint8_t kDispatchIndex = *gate_numbers("journal").indexes[1];  // of held records: the rank
inline constexpr std::uint8_t kTargetsIndex = *kFailureNumbers.indexes[0];           // of held records: targets, rank

// As an entry of the index by targets, and back. REQUIRES: encode_targets_rank() made it.
[[nodiscard]] std::string encode_targets_rank(TargetSet targets, const Rank& rank);
[[nodiscard]] std::pair<TargetSet, Rank> decode_targets_rank(std::string_view bytes);

// Behind all ranks of this urgency.
[[nodiscard]] Rank first_behind(std::uint16_t urgency);

// How many entries are read at a time.
struct Pieces {
  std::size_t first = 0;
  std::size_t further = 0;
};

// Entries of one index, or of one set of targets in it, a few at a time.
class Run {
 public:
  // `targets` none: of the index by ranks.
  Run(const StateView& view, std::optional<TargetSet> targets, Pieces pieces)
      : view_(&view), targets_(targets), most_(pieces.first), further_(pieces.further) {}

  // Nobody knows of those of the index by ranks: they stand in the row.
  [[nodiscard]] const std::optional<TargetSet>& targets() const { return targets_; }
  // Null: there is none any more.
  [[nodiscard]] const Rank* first();
  void drop_first() { ++next_; }
  // On to the first of at least this rank.
  void skip_to(const Rank& rank);

 private:
  void read();

  const StateView* view_;
  std::optional<TargetSet> targets_;
  std::vector<Rank> ranks_;
  std::size_t next_ = 0;
  Rank from_;
  std::size_t most_;
  std::size_t further_;
  bool ended_ = false;
};

// Of the committed state: the index by ranks, and each set of targets.
[[nodiscard]] std::vector<Run> runs_of(const StateView& view, Pieces pieces);

struct Candidate {
  Rank rank;
  Document* document = nullptr;  // null: it is known by its number alone
  bool targets_known = true;     // it has them in the index, or it has changed in this batch
};

class Queue {
 public:
  // REQUIRES: all of them outlive it.
  Queue(const StateView& view, const Overlay& overlay, const DispatchRules& rules);

  // Nothing is to come any more that waits for these targets alone.
  void block(TargetSet targets);
  // None: nothing more waits.
  [[nodiscard]] std::optional<Candidate> next();
  // On to the next urgency: what is behind in this one is due later.
  void skip(std::uint16_t urgency);
  // Its committed entries are not those that count.
  [[nodiscard]] bool has_changed(const Document* document) const;

 private:
  std::vector<Run> runs_;
  std::vector<Candidate> own_;
  std::size_t next_own_ = 0;
  std::vector<const Document*> changed_;
};

}  // namespace reseq::engine
