#include "tests/chaos/cluster/skipped_markers.h"

#include <algorithm>
#include <charconv>

namespace reseq::chaos {

namespace {

// What stands between two texts, in front of `rest`, which goes on behind the second. Nothing: it is not there.
std::optional<std::string_view> between(std::string_view& rest, std::string_view begin, std::string_view end) {
  const std::size_t from = rest.find(begin);
  if (from == std::string_view::npos) return std::nullopt;
  const std::size_t first = from + begin.size();
  const std::size_t to = rest.find(end, first);
  if (to == std::string_view::npos) return std::nullopt;
  const std::string_view found = rest.substr(first, to - first);
  rest.remove_prefix(to);
  return found;
}

template <typename Number>
bool read_number(std::optional<std::string_view> text, Number& number) {
  if (!text) return false;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  return error == std::errc() && stop == end;
}

std::optional<std::pair<std::string, Decision>> read_decision(std::string_view line) {
  const auto id = between(line, "Sending txn markers for TransactionalIdCoordinatorEpochAndTransitMetadata(", ",");
  if (!id) return std::nullopt;
  Decision decision;
  if (!read_number(between(line, ",", ","), decision.coordinator_epoch)) return std::nullopt;
  const auto result = between(line, ",", ",");
  if (!result || (*result != "COMMIT" && *result != "ABORT")) return std::nullopt;
  decision.commit = *result == "COMMIT";
  if (!read_number(between(line, " producerId=", ","), decision.producer_id)) return std::nullopt;
  if (!read_number(between(line, " producerEpoch=", ","), decision.producer_epoch)) return std::nullopt;
  return std::pair(std::string(*id), decision);
}

std::vector<NamedPartition> read_partitions(std::string_view list) {
  std::vector<NamedPartition> partitions;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(", "));
    list.remove_prefix(std::min(list.size(), one.size() + 2));
    const std::size_t dash = one.rfind('-');
    NamedPartition partition{.topic = std::string(one.substr(0, dash))};
    if (dash == std::string_view::npos || !read_number(one.substr(dash + 1), partition.partition)) return {};
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

}  // namespace

void SkippedMarkers::read(std::string_view line) {
  if (auto decided = read_decision(line)) {
    std::erase_if(skipped_, [&](const Skipped& one) { return one.transactional_id == decided->first; });
    decisions_.insert_or_assign(std::move(decided->first), decided->second);
    return;
  }
  if (const auto id = between(line, "No longer the coordinator for transactionalId: ", " while trying to append")) {
    for (Skipped& one : skipped_) one.left_to_next |= one.transactional_id == *id;
    return;
  }
  if (!line.ends_with("these partitions are likely deleted already and hence can be skipped "
                      "(TransactionMarkerChannelManager)"))
    return;
  // A set of Scala: Set(...), and HashSet(...) if it is large.
  const auto partitions = between(line, "Set(", ")");
  const auto id = between(line, "send transaction markers for ", ", these partitions");
  Skipped skipped{.transactional_id = std::string(id.value_or("")),
                  .decision = std::nullopt,
                  .partitions = read_partitions(partitions.value_or("")),
                  .left_to_next = false};
  if (const auto found = decisions_.find(skipped.transactional_id);
      found != decisions_.end() && !skipped.partitions.empty())
    skipped.decision = found->second;
  skipped_.push_back(std::move(skipped));
}

std::vector<Skipped> SkippedMarkers::take() {
  return std::exchange(skipped_, {});
}

}  // namespace reseq::chaos
