// SimulatedCluster: kafka::Cluster of one worker of one process over a Broker. Destroying its clients is a crash: only
// close() says goodbye. A process that is paused sends no heartbeats and is not stepped.
//
// Calls never block. What would have to wait answers kTimeout or Nothing at once and lets virtual time pass
// (Broker::wait), so that a loop with a time limit ends.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/kafka/broker.h"

namespace reseq::simulation {

// What the clients of a process share.
struct Process {
  bool paused = false;
};

struct ClientSettings {
  std::vector<std::string> topics;  // TopicIndex is the place in this list
  std::string group_instance_id = {};
  std::string transactional_id;
  bool recycle_on_doubt = true;
  Milliseconds session_timeout{10'000};
  Milliseconds transaction_timeout{10'000};
  Milliseconds max_poll_interval{300'000};
};

// Where the topics of a worker are at the broker.
class TopicMap {
 public:
  TopicMap(const Broker& broker, const std::vector<std::string>& names);

  // Nothing: the topic does not exist.
  [[nodiscard]] std::optional<Place> place(kafka::TopicPartition where) const;

 private:
  std::vector<std::optional<std::size_t>> topics_;
};

class SimulatedCluster final : public kafka::Cluster {
 public:
  // REQUIRES: the broker and the process outlive the cluster and its clients.
  SimulatedCluster(Broker& broker, const Process& process, ClientSettings settings);

  Result<std::unique_ptr<kafka::Consumer>> consumer(kafka::TopicIndex subscribed) override;
  Result<std::unique_ptr<kafka::Producer>> producer() override;
  Result<std::unique_ptr<kafka::LogReader>> log_reader() override;
  Result<std::string> cluster_id(Milliseconds limit) override;
  Result<kafka::TopicFacts> topic_facts(kafka::TopicIndex topic, Milliseconds limit) override;

 private:
  Broker& broker_;
  const Process& process_;
  ClientSettings settings_;
};

}  // namespace reseq::simulation
