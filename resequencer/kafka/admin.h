// Admin: creates topics and asks about topics and groups.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/plain_record.h"
#include "kafka/settings.h"
#include "model/ids.h"

namespace reseq::kafka {

struct TopicSpec {
  std::string name;
  std::int32_t partitions = 1;
  std::int32_t replication = 1;
  Properties configs = {};  // topic configuration in Kafka's words
};

class Admin {
 public:
  static Result<std::unique_ptr<Admin>> open(const Connection& connection);
  virtual ~Admin() = default;

  // Creates the topics that do not exist and waits until the brokers know them and lead their partitions. A topic that
  // exists with as many partitions is fine, its configuration is left alone; with another number: kInvalid.
  virtual Result<> create_topics(std::span<const TopicSpec> topics, Milliseconds limit) = 0;
  // A topic that does not exist is fine.
  virtual Result<> delete_topics(std::span<const std::string> names, Milliseconds limit) = 0;

  // kInvalid: no such topic.
  virtual Result<std::int32_t> partition_count(const std::string& topic, Milliseconds limit) = 0;

  // Where the brokers are, as bootstrap.servers takes it.
  virtual Result<std::string> broker_addresses(Milliseconds limit) = 0;

  // Brokers of the cluster, also those that are down and have a replica of some topic.
  virtual Result<std::int32_t> broker_count(Milliseconds limit) = 0;

  // Facts of a topic as the brokers tell them. kInvalid: no such topic.
  virtual Result<TopicFacts> topic_facts(const std::string& topic, Milliseconds limit) = 0;

  // One per partition, in order. Stable end = last stable offset: where a read_committed reader gets to.
  virtual Result<std::vector<PlainOffset>> begins(const std::string& topic, Milliseconds limit) = 0;
  virtual Result<std::vector<PlainOffset>> stable_ends(const std::string& topic, Milliseconds limit) = 0;

  // Committed offsets of a group, one per partition; kNoOffset where none. Unstable ones are waited for.
  virtual Result<std::vector<PlainOffset>> committed(const std::string& group_id, const std::string& topic,
                                                     Milliseconds limit) = 0;

  // Members of the group now; those that were killed count until their session is over. 0: nobody, or no such group.
  virtual Result<std::size_t> members(const std::string& group_id, Milliseconds limit) = 0;

  // Offsets between what the group committed (or the beginning) and the stable ends, all partitions. Control records
  // count: a group that commits last record + 1 of a transactional log keeps a lag of one per partition.
  virtual Result<std::int64_t> lag(const std::string& group_id, const std::string& topic, Milliseconds limit) = 0;
};

}  // namespace reseq::kafka
