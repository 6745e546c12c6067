// LaneRows: places of lanes (codec/place_row.h) as they stand after the decisions made so far, and which is the first
// of a lane. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/place_row.h"
#include "engine/gate_numbers.h"
#include "engine/rows.h"
#include "engine/state_view.h"
#include "model/row.h"

namespace reseq::engine {

inline constexpr GateNumbers kOrdersNumbers = gate_numbers("orders");
static_assert(codec::kLanesGate == kOrdersNumbers.gate);
static_assert(codec::kLaneIndex == *kOrdersNumbers.indexes[0]);
static_assert(codec::kGapIndex == *kOrdersNumbers.indexes[1]);
static_assert(codec::kReadyIndex == *kOrdersNumbers.indexes[2]);
static_assert(codec::kQueuedIndex == *kOrdersNumbers.indexes[3]);

struct Place {
  std::string key;
  codec::PlaceRow row;  // its bytes live until the batch is applied
};

// Which lane: of a document, or with 0 the one of the partition.
struct LaneName {
  TargetNumber target;
  std::uint64_t document = 0;
  friend auto operator<=>(const LaneName&, const LaneName&) = default;
};

class LaneRows {
 public:
  // REQUIRES: both outlive it.
  LaneRows(const StateView& view, Rows& rows) : view_(view), rows_(rows) {}

  [[nodiscard]] std::optional<Place> find(const std::string& key) const;
  // The first place of a lane that is still there.
  [[nodiscard]] std::optional<Place> first(const LaneName& lane);
  // A place that was not there, or another one of it.
  void put(const std::string& key, const codec::PlaceRow& place);
  void remove(const Place& place);
  [[nodiscard]] static LaneName lane_of(const Place& place);
  // The first place of a document for this target that waits to get into the journal, in the order of its requests.
  [[nodiscard]] std::optional<Place> first_queued(std::uint64_t document, TargetNumber target) const;
  [[nodiscard]] bool any_queued() const;

 private:
  // Keys of committed places in their order, some at a time. What has gone from the front does not come back.
  struct Ahead {
    std::vector<std::string> keys;
    std::size_t next = 0;
    bool more = true;
    std::uint64_t passed = 0;  // in a lane of the partition: number of the last one
  };
  [[nodiscard]] std::optional<Place> first_committed(const LaneName& lane);
  void read(const LaneName& lane, Ahead& ahead) const;
  // True: it is still there, and goes to `found`.
  [[nodiscard]] bool is_there(std::string_view key, std::optional<Place>& found) const;

  const StateView& view_;
  Rows& rows_;
  // Those of this batch: keys, and of total lanes by their numbers.
  std::set<std::string, std::less<>> fresh_;
  std::map<TargetNumber, std::map<std::uint64_t, std::string>> fresh_of_partition_;
  std::map<LaneName, Ahead> ahead_;
  std::map<std::string, std::string> fresh_queued_;  // by their entries of the index
};

}  // namespace reseq::engine
