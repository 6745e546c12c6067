#include "runtime/worker/lane_survey.h"

#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "codec/held_rows.h"
#include "engine/orders/lane_rows.h"

namespace reseq::runtime {
namespace {

constexpr std::size_t kPlacesKeyBytes = 3;  // of the key of a place: type, realm, gate
constexpr std::size_t kLaneKeyBytes = kPlacesKeyBytes + 1 + sizeof(std::uint64_t);  // target, document

std::string places_prefix() {
  return codec::place_key(engine::kOrdersNumbers.gate, codec::lane_rank(TargetNumber(0), 0)).substr(0, kPlacesKeyBytes);
}

// Of the result that is held for a place; none: there is no such.
std::optional<std::uint64_t> held_bytes_of(const store::PartitionStore& store, std::string_view place_key) {
  if (store.summary().counts[Count::kResultBytes] == 0) return std::nullopt;
  const std::string key = codec::held_key_of_place(place_key);
  const auto value = store.row(key);
  const auto decoded = value ? codec::decode_held(key, *value) : codec::Decoded<codec::HeldRow>();
  const auto* const held = std::get_if<codec::HeldRow>(&decoded);
  return value && held != nullptr ? std::optional(held->bytes) : std::nullopt;
}

// Which is skipped first; where none is, which went to work first.
bool is_sooner(const LaneHead& one, const LaneHead& other) {
  return std::tie(one.skipped_at, one.since) < std::tie(other.skipped_at, other.since);
}

}  // namespace

void LaneSurvey::look(const store::PartitionStore& store, Milliseconds steady) {
  if (store.summary().counts[Count::kPlaces] == 0) {
    so_far_.clear();
    first_gaps_.clear();
    return end_pass(steady);
  }
  std::vector<std::pair<std::string, std::string>> piece;
  store.scan(places_prefix(), cursor_, kPieceRows, [&](std::string_view key, std::string_view value) {
    piece.emplace_back(key, value);
    return true;
  });
  for (const auto& [key, value] : piece) {
    const auto decoded = codec::decode_place(key, value);
    if (const auto* const place = std::get_if<codec::PlaceRow>(&decoded)) note(store, key, *place);
  }
  if (store.fault()) return;  // it is rebuilt next
  if (piece.size() < kPieceRows) return end_pass(steady);
  cursor_ = std::move(piece.back().first);
}

void LaneSurvey::note(const store::PartitionStore& store, std::string_view key, const codec::PlaceRow& place) {
  if (place.target.value() >= store.targets().names().size()) return;
  const std::string& target = store.targets().name(place.target);
  Lanes& lanes = so_far_[target];
  const std::string_view lane = key.substr(0, kLaneKeyBytes);
  if (lane != lane_) {
    lane_ = lane;
    lane_head_.reset();
  }
  ++lanes.places;
  if (place.is_waited_for()) {
    LaneHead head{target, std::string(place.id), place.order, place.dispatched_at, *place.due};
    if (!lanes.head || is_sooner(head, *lanes.head)) lanes.head = head;
    if (place.total)
      total_head_waits_.insert(target);
    else
      lane_head_ = std::move(head);
  }
  const auto held = place.ended || place.is_waited_for() ? std::nullopt : held_bytes_of(store, key);
  if (!held) return;
  ++lanes.held;
  lanes.held_bytes += *held;
  if (!lane_head_) return;
  ++lanes.gaps;
  const auto first = first_gaps_.find(target);
  if (first == first_gaps_.end() || is_sooner(*lane_head_, first->second))
    first_gaps_.insert_or_assign(target, std::move(*lane_head_));
  lane_head_.reset();
}

void LaneSurvey::end_pass(Milliseconds steady) {
  for (auto& [target, lanes] : so_far_)
    if (lanes.held > 0 && total_head_waits_.contains(target)) lanes.gaps = 1;
  for (auto& [target, head] : first_gaps_) so_far_[target].head = std::move(head);
  found_ = so_far_.empty() ? nullptr : std::make_shared<const Found>(std::exchange(so_far_, {}));
  first_gaps_.clear();
  total_head_waits_.clear();
  lane_.clear();
  lane_head_.reset();
  cursor_.clear();
  next_at_ = Milliseconds(steady.value() + kPause.value());
}

}  // namespace reseq::runtime
