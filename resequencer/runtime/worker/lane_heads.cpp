#include "runtime/worker/lane_heads.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/place_row.h"
#include "engine/orders/lane_rows.h"

namespace reseq::runtime {
namespace {

constexpr std::size_t kTargetKeyBytes = 4;  // of the key of what is held: type, realm, gate, target

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

// None: the disk cannot be read.
std::optional<LaneStanding::FirstHeld> first_held(const store::BatchView& view, std::string_view key,
                                                  std::string_view value) {
  std::string place_key(key);
  place_key[0] = static_cast<char>(codec::KeyType::kPlace);
  const auto place_value = view.row(place_key);
  const auto decoded = place_value ? codec::decode_place(place_key, *place_value) : codec::Decoded<codec::PlaceRow>();
  const auto* const place = std::get_if<codec::PlaceRow>(&decoded);
  const auto read = codec::decode_held(key, value);
  const auto* const held = std::get_if<codec::HeldRow>(&read);
  if (place == nullptr || held == nullptr) return std::nullopt;
  // Whoever wrote the record may have another clock. What waits for another dispatch was sent to work before.
  const bool sent = place->dispatched_at != codec::kNever;
  return LaneStanding::FirstHeld{place->order, place->dispatched_at,
                                 sent ? std::max(held->timestamp, place->dispatched_at) : held->timestamp};
}

}  // namespace

std::optional<LaneHead> next_gap_of(const PartitionTask& task) {
  auto first = first_of(store::BatchView(task.store()), codec::kGapIndex, {}, task.store().targets());
  return first && first->skipped_at != codec::kNever ? std::move(first) : std::nullopt;
}

bool LaneStandings::holds(const PartitionTask& task) {
  const Counts& counts = task.store().summary().counts;
  return counts[Count::kPlaces] > 0 && counts[Count::kHeldRecords] > 0;
}

std::vector<LaneStanding> LaneStandings::of(std::string_view id, const Row& row) {
  std::vector<LaneStanding> all;
  for (const Lane& lane : row.lanes) {
    if (lane.places == 0 || lane.target.value() >= targets_.names().size()) continue;
    const bool total = targets_.ordered().total.contains(lane.target);
    LaneStanding one;
    one.target = targets_.name(lane.target);
    one.head = head_of(lane, total);
    if (any_held_) {
      const std::string of_document =
          codec::held_key(engine::kOrdersNumbers.gate, codec::lane_rank(lane.target, lane.document));
      one.held = held_under(of_document, &one.first_held);
      const bool is_gap = one.head && one.head->id == id && !one.head->leaves();
      if (is_gap) one.blocks = total ? held_under(of_document.substr(0, kTargetKeyBytes), nullptr) : one.held;
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<LaneHead> LaneStandings::head_of(const Lane& lane, bool total) {
  if (total) {
    const auto known = of_partition_.find(lane.target);
    if (known != of_partition_.end()) return known->second;
    ++looked_at_;
    return of_partition_[lane.target] = first_of(view_, codec::kLaneIndex, codec::lane_entry(lane.target, 1), targets_);
  }
  ++looked_at_;
  const std::string prefix =
      codec::place_key(engine::kOrdersNumbers.gate, codec::lane_rank(lane.target, lane.document));
  std::string first;
  view_.scan(prefix, {}, 1, [&](std::string_view key, std::string_view) {
    first = key;
    return false;
  });
  return first.empty() ? std::nullopt : runtime::head_of(view_, first, targets_);
}

HeldResults LaneStandings::held_under(std::string_view prefix, std::optional<LaneStanding::FirstHeld>* first) {
  HeldResults held;
  ++looked_at_;
  view_.scan(prefix, {}, kHeldCountedMax + 1, [&](std::string_view key, std::string_view value) {
    if (held.count == 0 && first != nullptr) *first = first_held(view_, key, value);
    held.more = held.count == kHeldCountedMax;
    if (!held.more) ++held.count;
    ++looked_at_;
    return !held.more;
  });
  return held;
}

}  // namespace reseq::runtime
