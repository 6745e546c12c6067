// Logs read from explicit offsets, outside any group (kafka/cluster.h, LogReader). Checksums of what is read are
// checked.
// Two clients: read_committed for the records, read_uncommitted for the high watermarks.
// Thread rule: one thread. Records must be destroyed before it.
#pragma once

#include <cstdint>
#include <memory>

#include "kafka/client_conf.h"
#include "kafka/cluster.h"
#include "kafka/handles.h"
#include "kafka/partition_list.h"
#include "kafka/prefetch.h"
#include "kafka/settings.h"

namespace reseq::kafka {

enum class ReaderUse : std::uint8_t { kInOrder, kScattered };

class LibrdkafkaLogReader final : public LogReader {
 public:
  static Result<std::unique_ptr<LogReader>> open(const ClusterSettings& settings, ReaderUse use);

  Result<> assign(std::span<const TopicPartitionOffset> positions) override;
  Result<LogPolled> poll(Milliseconds limit) override;
  Result<std::vector<TopicPartitionOffset>> begins(std::span<const TopicPartition> which, Milliseconds limit) override;
  Result<std::vector<TopicPartitionOffset>> stable_ends(std::span<const TopicPartition> which,
                                                        Milliseconds limit) override;
  Result<std::vector<TopicPartitionOffset>> high_watermarks(std::span<const TopicPartition> which,
                                                            Milliseconds limit) override;
  void serve() override;

 private:
  explicit LibrdkafkaLogReader(TopicNames topics) : topics_(std::move(topics)) {}
  Result<> start(const ClusterSettings& settings, ReaderUse use);

  TopicNames topics_;
  ClientContext context_;
  ConsumerHandle stable_;
  ConsumerHandle uncommitted_;
  Prefetch prefetch_;  // of stable_
  bool reads_ = false;
};

}  // namespace reseq::kafka
