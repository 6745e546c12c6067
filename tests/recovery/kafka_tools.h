// What an operator, or somebody who should not, does to a cluster with the tools that come with Kafka.
// Thread rule: plain functions. A tool that fails throws what it printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reseq::test {

struct DeletedRecords {
  std::string topic;
  int partition = 0;
  std::int64_t before = -1;  // this offset; -1: all of them
};

class KafkaTools {
 public:
  explicit KafkaTools(std::string bootstrap_servers) : bootstrap_servers_(std::move(bootstrap_servers)) {}

  void delete_records(const std::vector<DeletedRecords>& records) const;
  // `setting` as name=value.
  void configure_topic(const std::string& topic, const std::string& setting) const;
  void add_partitions(const std::string& topic, int partitions) const;
  // Of a group without members; members that were stopped or killed count until their session is over, and are waited
  // for.
  void delete_group(const std::string& group) const;
  void delete_offsets(const std::string& group, const std::vector<std::string>& topics, int partition) const;
  void reset_offsets(const std::string& group, const std::string& topic, int partition, std::int64_t offset) const;

 private:
  void change_group(const std::vector<std::string>& arguments, const std::string& success) const;
  std::string bootstrap_servers_;
};

}  // namespace reseq::test
