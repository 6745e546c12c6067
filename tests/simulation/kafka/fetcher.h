// Fetcher: what consumers and log readers share: reads logs from explicit offsets, read_committed, ends of logs
// reported, and asks for the bounds of logs.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tests/simulation/kafka/cluster.h"

namespace reseq::simulation {

// How long an assign that fails has waited before.
inline constexpr Milliseconds kAssignLimit{10'000};

enum class Bound : std::uint8_t { kBegin, kLastStable, kHighWatermark };

class Fetcher {
 public:
  Fetcher(Broker& broker, const std::vector<std::string>& topics) : broker_(broker), topics_(broker, topics) {}

  using Fetched = std::variant<kafka::Nothing, kafka::Record, kafka::EndOfLog, kafka::PartitionFailure>;

  void assign(std::span<const kafka::TopicPartitionOffset> positions);
  // Takes the partitions in a drawn order. Lets time pass when there is nothing.
  Fetched fetch(Milliseconds limit);

  Result<std::vector<kafka::TopicPartitionOffset>> bounds(std::span<const kafka::TopicPartition> which, Bound bound,
                                                          Milliseconds limit);

  [[nodiscard]] const TopicMap& topics() const { return topics_; }

 private:
  struct Cursor {
    kafka::TopicPartition where;
    Offset next;
    Offset end_told = kNoOffset;
    bool failed = false;
  };

  std::optional<Fetched> fetch(Cursor& cursor);

  Broker& broker_;
  TopicMap topics_;
  std::vector<Cursor> cursors_;
};

}  // namespace reseq::simulation
