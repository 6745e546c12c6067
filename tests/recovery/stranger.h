// Stranger: a program that uses the topics and the group of an application, with transactions that it leaves open.
// Thread rule: one thread. Whatever cannot be done throws.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kafka/cluster.h"
#include "model/partition_state.h"
#include "runtime/application/application.h"
#include "tests/operator/operator.h"

namespace reseq::test {

class Stranger {
 public:
  explicit Stranger(const Operator& shop);

  [[nodiscard]] const std::string& cluster_id() const { return application_.cluster_id; }

  void begin();
  // A record of the changelog that nobody can read if it were committed.
  void write_to_changelog(int partition);
  // Offset of `requests` of one partition, in the transaction; as the only member of the group, which must be empty.
  void send_offset(int partition, std::int64_t offset);
  void abort();

  // Outside of a transaction, as `kafka-consumer-groups --reset-offsets` does.
  static void commit_by_hand(const Operator& shop, int partitions, const std::vector<std::pair<int, std::int64_t>>& to);

 private:
  runtime::Application application_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::Producer> producer_;
};

}  // namespace reseq::test
