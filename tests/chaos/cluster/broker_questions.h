// Questions to one broker in Kafka's protocol that no client library asks for us: who coordinates, who leads, which
// replicas are in sync.
// Thread rule: plain functions; each makes a connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reseq::chaos {

// FindCoordinator's key types.
enum class Coordinates : std::int8_t { kGroup = 0, kTransactions = 1 };

// Node id of the coordinator. Nothing: no answer within the limit, or the broker does not know at the moment.
[[nodiscard]] std::optional<int> ask_coordinator(std::uint16_t port, Coordinates what, const std::string& key,
                                                 std::chrono::milliseconds limit);

struct PartitionFacts {
  std::string topic;
  std::int32_t partition = 0;
  int leader = 0;  // node id; 0 = none
  std::vector<int> replicas;
  std::vector<int> in_sync;
};

// All partitions of all topics, the internal ones too. Nothing: no answer within the limit.
[[nodiscard]] std::optional<std::vector<PartitionFacts>> ask_partitions(std::uint16_t port,
                                                                        std::chrono::milliseconds limit);

}  // namespace reseq::chaos
