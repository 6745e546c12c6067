// WrittenLog: a log of one partition that says what it was told to, from the offset that was assigned.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kafka/cluster.h"
#include "store/partition_store.h"

namespace reseq::changelog {

inline constexpr kafka::TopicIndex kTopic{0};
inline constexpr Partition kPartition{3};
inline constexpr kafka::TopicPartition kWhere{kTopic, kPartition};

class WrittenLog final : public kafka::LogReader {
 public:
  struct Entry {
    std::int64_t offset;
    std::string key;
    std::optional<std::string> value;
  };
  Result<> assign(std::span<const kafka::TopicPartitionOffset> positions) override {
    ++assigns;
    assigned.assign(positions.begin(), positions.end());
    return Done{};
  }
  void serve() override {}
  Result<kafka::LogPolled> poll(Milliseconds) override {
    if (failure) return kafka::LogPolled(kafka::PartitionFailure{kWhere, *std::exchange(failure, std::nullopt)});
    if (assigned.empty()) return kafka::LogPolled(kafka::Nothing{});
    Offset& next = assigned.front().offset;
    for (const Entry& entry : entries) {
      if (Offset(entry.offset) < next) continue;
      kafka::Record record;
      record.where = kWhere;
      record.offset = Offset(entry.offset);
      record.key = entry.key;
      if (entry.value) record.payload = *entry.value;
      next = Offset(entry.offset + 1);
      return kafka::LogPolled(std::move(record));
    }
    if (!std::exchange(said_end, true)) return kafka::LogPolled(kafka::EndOfLog{kWhere, end});
    return kafka::LogPolled(kafka::Nothing{});
  }
  Result<std::vector<kafka::TopicPartitionOffset>> begins(std::span<const kafka::TopicPartition>,
                                                          Milliseconds) override {
    return std::vector<kafka::TopicPartitionOffset>{{kWhere, Offset(0)}};
  }
  Result<std::vector<kafka::TopicPartitionOffset>> stable_ends(std::span<const kafka::TopicPartition>,
                                                               Milliseconds) override {
    return std::vector<kafka::TopicPartitionOffset>{{kWhere, end}};
  }
  Result<std::vector<kafka::TopicPartitionOffset>> high_watermarks(std::span<const kafka::TopicPartition>,
                                                                   Milliseconds) override {
    return std::vector<kafka::TopicPartitionOffset>{{kWhere, end}};
  }

  void write(std::int64_t offset, const store::Change& change) {
    entries.push_back(
        {offset, std::string(change.key), change.value ? std::optional(std::string(*change.value)) : std::nullopt});
  }

  std::vector<Entry> entries;
  Offset end;
  std::optional<Error> failure;
  bool said_end = false;
  std::vector<kafka::TopicPartitionOffset> assigned;
  int assigns = 0;
};

}  // namespace reseq::changelog
