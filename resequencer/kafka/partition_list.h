// Lists of partitions with offsets, between our types and librdkafka's, and the questions that are asked with them.
// Every element of an answer is looked at: a call that went well may still hold partitions that failed.
// Thread rule: the thread of the client.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/handles.h"
#include "kafka/plain_record.h"

namespace reseq::kafka {

// Topic names with their index.
class TopicNames {
 public:
  explicit TopicNames(std::vector<std::string> names) : names_(std::move(names)) {}

  [[nodiscard]] const std::string& name(TopicIndex topic) const;  // REQUIRES: one of the list
  [[nodiscard]] TopicIndex index(std::string_view name) const;    // REQUIRES: one of the list
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

[[nodiscard]] PartitionList list_of(const TopicNames& topics, std::span<const TopicPartition> which);
[[nodiscard]] PartitionList list_of(const TopicNames& topics, std::span<const TopicPartitionOffset> which);
[[nodiscard]] PartitionList list_of(std::span<const PlainOffset> which);

// Offsets in the order of the list; negative ones, librdkafka's "none", become kNoOffset.
[[nodiscard]] std::vector<TopicPartitionOffset> offsets_of(const TopicNames& topics,
                                                           const rd_kafka_topic_partition_list_t& list);
[[nodiscard]] std::vector<PlainOffset> offsets_of(const rd_kafka_topic_partition_list_t& list);

// The first partition that failed.
[[nodiscard]] Result<> check_each(const rd_kafka_topic_partition_list_t& list, std::string_view what);

// Begins or ends of logs, for all partitions in one call per leader: the last stable offset by a read_committed client,
// the high watermark by a read_uncommitted one. What passes by itself is asked again within the limit.
enum class LogSide : unsigned char { kBegin, kEnd };
[[nodiscard]] Result<> ask_offsets(rd_kafka_t& consumer, rd_kafka_topic_partition_list_t& list, LogSide side,
                                   Milliseconds limit);
[[nodiscard]] Result<std::vector<TopicPartitionOffset>> ask_offsets(rd_kafka_t& consumer, const TopicNames& topics,
                                                                    std::span<const TopicPartition> which, LogSide side,
                                                                    Milliseconds limit);

// Replaces what the consumer reads; nothing of before comes any more. REQUIRES: every offset is a place
// in a log.
[[nodiscard]] Result<> assign_list(rd_kafka_t& consumer, rd_kafka_topic_partition_list_t& list);
[[nodiscard]] Result<> assign_offsets(rd_kafka_t& consumer, const TopicNames& topics,
                                      std::span<const TopicPartitionOffset> positions);

}  // namespace reseq::kafka
