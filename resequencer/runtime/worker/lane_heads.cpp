#include "runtime/worker/lane_heads.h"

#include <string>
#include <string_view>
#include <variant>

#include "codec/place_row.h"
#include "engine/orders/lane_rows.h"
#include "store/batch_view.h"

namespace reseq::runtime {
namespace {

// None: the disk cannot be read.
std::optional<LaneHead> head_of(const store::BatchView& view, std::string_view key, const TargetTable& targets) {
  const auto value = view.row(key);
  const auto decoded = value ? codec::decode_place(key, *value) : codec::Decoded<codec::PlaceRow>();
  const auto* const place = std::get_if<codec::PlaceRow>(&decoded);
  if (!value || place == nullptr || place->target.value() >= targets.names().size()) return std::nullopt;
  return LaneHead{targets.name(place->target), std::string(place->id), place->order, place->dispatched_at,
                  place->due.value_or(UnixMs())};
}

std::optional<LaneHead> first_of(const store::BatchView& view, std::uint8_t index, std::string_view from,
                                 const TargetTable& targets) {
  std::string first;
  view.index(index, from, 1, [&](std::string_view, std::string_view key) {
    first = key;
    return false;
  });
  return first.empty() ? std::nullopt : head_of(view, first, targets);
}

}  // namespace

std::optional<LaneHead> next_gap_of(const PartitionTask& task) {
  return first_of(store::BatchView(task.store()), codec::kGapIndex, {}, task.store().targets());
}

std::vector<LaneHead> lane_heads_of(const PartitionTask& task, const Row& row) {
  const store::BatchView view(task.store());
  const TargetTable& targets = task.store().targets();
  std::vector<LaneHead> heads;
  for (const Lane& lane : row.lanes) {
    if (lane.places == 0) continue;
    std::optional<LaneHead> head;
    if (targets.ordered().total.contains(lane.target)) {
      head = first_of(view, codec::kLaneIndex, codec::lane_entry(lane.target, 1), targets);
    } else {
      const std::string prefix =
          codec::place_key(engine::kOrdersNumbers.gate, codec::lane_rank(lane.target, lane.document));
      std::string first;
      view.scan(prefix, {}, 1, [&](std::string_view key, std::string_view) {
        first = key;
        return false;
      });
      if (!first.empty()) head = head_of(view, first, targets);
    }
    if (head) heads.push_back(std::move(*head));
  }
  return heads;
}

}  // namespace reseq::runtime
