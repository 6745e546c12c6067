#include "engine/orders/lane_rows.h"

#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "base/big_endian.h"

namespace reseq::engine {
namespace {

// At a time: nearly always the first one is there, and when it has left the next one is asked for soon.
constexpr std::size_t kFirstPlaces = 16;
constexpr std::size_t kFurtherPlaces = 256;

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

// Of a lane of the partition, what is committed has lower numbers than what this batch adds.
std::optional<Place> LaneRows::first(const LaneName& lane) {
  auto found = first_committed(lane);
  if (lane.document == 0) {
    if (found) return found;
    const auto fresh = fresh_of_partition_.find(lane.target);
    if (fresh == fresh_of_partition_.end() || fresh->second.empty()) return std::nullopt;
    return find(fresh->second.begin()->second);
  }
  const std::string prefix = codec::place_key(kOrdersNumbers.gate, codec::lane_rank(lane.target, lane.document));
  const auto fresh = fresh_.lower_bound(prefix);
  const bool before = fresh != fresh_.end() && fresh->starts_with(prefix) && (!found || *fresh < found->key);
  return before ? find(*fresh) : found;
}

std::optional<Place> LaneRows::first_committed(const LaneName& lane) {
  Ahead& ahead = ahead_[lane];
  std::optional<Place> found;
  while (true) {
    for (; ahead.next < ahead.keys.size(); ++ahead.next)
      if (is_there(ahead.keys[ahead.next], found)) return found;
    if (!ahead.more) return std::nullopt;
    read(lane, ahead);
  }
}

void LaneRows::read(const LaneName& lane, Ahead& ahead) const {
  const std::string last = ahead.keys.empty() ? std::string() : std::move(ahead.keys.back());
  const std::size_t most = ahead.keys.empty() ? kFirstPlaces : kFurtherPlaces;
  ahead.keys.clear();
  ahead.next = 0;
  if (lane.document == 0) {
    view_.index(codec::kLaneIndex, codec::lane_entry(lane.target, ahead.passed + 1), most,
                [&](std::string_view entry, std::string_view key) {
                  const auto number = codec::number_in_lane(entry, lane.target);
                  if (!number) return false;
                  ahead.passed = *number;
                  ahead.keys.emplace_back(key);
                  return true;
                });
  } else {
    const std::string prefix = codec::place_key(kOrdersNumbers.gate, codec::lane_rank(lane.target, lane.document));
    view_.scan(prefix, last, most, [&](std::string_view key, std::string_view) {
      ahead.keys.emplace_back(key);
      return true;
    });
  }
  ahead.more = ahead.keys.size() == most;
}

void LaneRows::put(const std::string& key, const codec::PlaceRow& place) {
  const bool is_new = !rows_.find(key);
  std::string value;
  codec::encode_place(key, place, value);
  rows_.put(key, value);
  if (place.queued) fresh_queued_[codec::queued_entry(place.document, place.target, place.number)] = key;
  if (!is_new) return;
  if (place.total)
    fresh_of_partition_[place.target].emplace(place.number, key);
  else
    fresh_.insert(key);
}

bool LaneRows::any_queued() const {
  return !fresh_queued_.empty() || view_.summary().counts[Count::kQueued] > 0;
}

// Those of this batch have higher numbers than those that are committed. What is not queued any more is passed over.
std::optional<Place> LaneRows::first_queued(std::uint64_t document, TargetNumber target) const {
  std::optional<Place> found;
  const auto is_queued = [&](const std::string& key) {
    found = find(key);
    if (found && !found->row.queued) found.reset();
    return found.has_value();
  };
  const std::string begin = codec::queued_entry(document, target, 0);
  const std::string end = codec::queued_entry(document, target, UINT64_MAX);
  std::string from = begin;
  for (bool more = true; more && !found;) {
    std::vector<std::string> keys;
    view_.index(codec::kQueuedIndex, from, kFirstPlaces, [&](std::string_view entry, std::string_view key) {
      if (entry >= end) return false;
      from = entry;
      from.push_back('\0');
      keys.emplace_back(key);
      return true;
    });
    more = keys.size() == kFirstPlaces;
    for (std::size_t i = 0; i < keys.size() && !is_queued(keys[i]); ++i) {
    }
  }
  for (auto fresh = fresh_queued_.lower_bound(begin); !found && fresh != fresh_queued_.end() && fresh->first < end;
       ++fresh)
    (void)is_queued(fresh->second);
  return found;
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
