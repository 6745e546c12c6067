#include "engine/orders/lane_rows.h"

#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "base/big_endian.h"

namespace reseq::engine {
namespace {

constexpr std::size_t kPlacesLookedAt = 16;  // at a time: nearly always the first one is there

}  // namespace

std::optional<Place> LaneRows::find(const std::string& key) const {
  std::optional<Place> found;
  (void)is_there(key, found);
  return found;
}

bool LaneRows::is_there(std::string_view key, std::optional<Place>& found) const {
  const auto value = rows_.find(key);
  if (!value) return false;
  const auto decoded = codec::decode_place(key, *value);
  const auto* const place = std::get_if<codec::PlaceRow>(&decoded);
  if (place == nullptr) return false;  // the disk cannot be read, and nothing of the batch will be
  found = Place{std::string(key), *place};
  return true;
}

LaneName LaneRows::lane_of(const Place& place) {
  if (place.row.total) return {place.row.target, 0};
  return {place.row.target,
          read_big_endian(std::string_view(place.key).substr(4))};  // behind type, realm, gate, target
}

std::optional<Place> LaneRows::first(const LaneName& lane) {
  return lane.document == 0 ? first_of_partition(lane) : first_of_document(lane);
}

std::optional<Place> LaneRows::first_of_document(const LaneName& lane) {
  const std::string prefix = codec::place_key(kOrdersNumbers.gate, codec::lane_rank(lane.target, lane.document));
  std::optional<Place> found;
  std::string& passed = passed_[lane];
  for (bool more = true; more && !found;) {
    std::vector<std::string> keys;
    view_.scan(prefix, passed, kPlacesLookedAt, [&](std::string_view key, std::string_view) {
      keys.emplace_back(key);
      return true;
    });
    more = keys.size() == kPlacesLookedAt;
    for (const std::string& key : keys) {
      if (is_there(key, found)) break;
      passed = key;
    }
  }
  const auto fresh = fresh_.lower_bound(prefix);
  const bool before = fresh != fresh_.end() && fresh->starts_with(prefix) && (!found || *fresh < found->key);
  return before ? find(*fresh) : found;
}

// What is committed has lower numbers than what this batch adds.
std::optional<Place> LaneRows::first_of_partition(const LaneName& lane) {
  std::optional<Place> found;
  std::uint64_t& passed = passed_of_partition_[lane.target];
  for (bool more = true; more && !found;) {
    std::vector<std::pair<std::uint64_t, std::string>> places;
    view_.index(codec::kLaneIndex, codec::lane_entry(lane.target, passed + 1), kPlacesLookedAt,
                [&](std::string_view entry, std::string_view key) {
                  const auto number = codec::number_in_lane(entry, lane.target);
                  if (number) places.emplace_back(*number, key);
                  return number.has_value();
                });
    more = places.size() == kPlacesLookedAt;
    for (const auto& [number, key] : places) {
      if (is_there(key, found)) break;
      passed = number;
    }
  }
  if (found) return found;
  const auto fresh = fresh_of_partition_.find(lane.target);
  if (fresh == fresh_of_partition_.end() || fresh->second.empty()) return std::nullopt;
  return find(fresh->second.begin()->second);
}

void LaneRows::put(const std::string& key, const codec::PlaceRow& place) {
  const bool is_new = !rows_.find(key);
  std::string value;
  codec::encode_place(key, place, value);
  rows_.put(key, value);
  if (!is_new) return;
  if (place.total)
    fresh_of_partition_[place.target].emplace(place.number, key);
  else
    fresh_.insert(key);
}

void LaneRows::remove(const Place& place) {
  rows_.remove(place.key);
  if (!place.row.total) {
    fresh_.erase(place.key);
    return;
  }
  const auto fresh = fresh_of_partition_.find(place.row.target);
  if (fresh != fresh_of_partition_.end()) fresh->second.erase(place.row.number);
}

}  // namespace reseq::engine
