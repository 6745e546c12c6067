// The inputs, read as a member of the group (kafka/cluster.h, Consumer).
// Invariants: the rebalance callback only notes what happened and answers librdkafka with an empty assignment, so that
// nothing is read for a partition before assign() names its offset; what it noted is returned before any later record.
// The group's metadata is captured in the callback that assigns, never later.
// Thread rule: one thread. Records must be destroyed before it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "kafka/client_conf.h"
#include "kafka/cluster.h"
#include "kafka/handles.h"
#include "kafka/partition_list.h"
#include "kafka/prefetch.h"
#include "kafka/settings.h"

namespace reseq::kafka {

class LibrdkafkaConsumer final : public Consumer {
 public:
  static Result<std::unique_ptr<Consumer>> open(const ClusterSettings& settings, TopicIndex subscribed);

  Result<Polled> poll(Milliseconds limit) override;
  Result<> assign(std::span<const TopicPartitionOffset> positions) override;
  Result<std::vector<TopicPartitionOffset>> committed(std::span<const TopicPartition> which,
                                                      Milliseconds limit) override;
  Result<std::vector<TopicPartitionOffset>> begins(std::span<const TopicPartition> which, Milliseconds limit) override;
  Result<std::vector<TopicPartitionOffset>> stable_ends(std::span<const TopicPartition> which,
                                                        Milliseconds limit) override;
  [[nodiscard]] std::optional<Offset> known_end(TopicPartition where) const override;
  std::shared_ptr<const GroupMetadata> group_now() override;
  void close(Milliseconds limit) override;

 private:
  LibrdkafkaConsumer(TopicNames topics, TopicIndex subscribed, std::uint32_t headers_max)
      : topics_(std::move(topics)), subscribed_(subscribed), headers_max_(headers_max) {}
  Result<> start(const ClusterSettings& settings);

  static void on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t event, rd_kafka_topic_partition_list_t* list,
                           void* opaque);
  [[nodiscard]] std::vector<Partition> partitions_of(const rd_kafka_topic_partition_list_t& list) const;

  TopicNames topics_;
  TopicIndex subscribed_;
  std::uint32_t headers_max_;
  ClientContext context_;
  std::deque<Polled> rebalances_;  // noted, not returned yet
  bool was_assigned_ = false;
  ConsumerHandle handle_;
  Prefetch prefetch_;
};

}  // namespace reseq::kafka
