// SimulatedLogReader: kafka::LogReader over the logs of a Broker.
// Thread rule: one thread.
#pragma once

#include "tests/simulation/kafka/fetcher.h"

namespace reseq::simulation {

class SimulatedLogReader final : public kafka::LogReader {
 public:
  SimulatedLogReader(Broker& broker, const ClientSettings& settings)
      : broker_(broker), fetcher_(broker, settings.topics) {}

  Result<> assign(std::span<const kafka::TopicPartitionOffset> positions) override;
  Result<kafka::LogPolled> poll(Milliseconds limit) override;
  Result<std::vector<kafka::TopicPartitionOffset>> begins(std::span<const kafka::TopicPartition> which,
                                                          Milliseconds limit) override;
  Result<std::vector<kafka::TopicPartitionOffset>> stable_ends(std::span<const kafka::TopicPartition> which,
                                                               Milliseconds limit) override;
  Result<std::vector<kafka::TopicPartitionOffset>> high_watermarks(std::span<const kafka::TopicPartition> which,
                                                                   Milliseconds limit) override;
  void serve() override {}

 private:
  Broker& broker_;
  Fetcher fetcher_;
};

}  // namespace reseq::simulation
