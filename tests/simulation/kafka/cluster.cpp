#include "tests/simulation/kafka/cluster.h"

#include <utility>

#include "tests/simulation/kafka/consumer.h"
#include "tests/simulation/kafka/log_reader.h"
#include "tests/simulation/kafka/producer.h"

namespace reseq::simulation {

TopicMap::TopicMap(const Broker& broker, const std::vector<std::string>& names) {
  for (const std::string& name : names) topics_.push_back(broker.topic(name));
}

std::optional<Place> TopicMap::place(kafka::TopicPartition where) const {
  if (where.topic.value() >= topics_.size() || !topics_[where.topic.value()]) return std::nullopt;
  return Place{*topics_[where.topic.value()], where.partition};
}

SimulatedCluster::SimulatedCluster(Broker& broker, const Process& process, ClientSettings settings)
    : broker_(broker), process_(process), settings_(std::move(settings)) {}

Result<std::unique_ptr<kafka::Consumer>> SimulatedCluster::consumer(kafka::TopicIndex subscribed) {
  return std::unique_ptr<kafka::Consumer>(
      std::make_unique<SimulatedConsumer>(broker_, process_, settings_, subscribed));
}

Result<std::unique_ptr<kafka::Producer>> SimulatedCluster::producer() {
  return std::unique_ptr<kafka::Producer>(std::make_unique<SimulatedProducer>(broker_, settings_));
}

Result<std::unique_ptr<kafka::LogReader>> SimulatedCluster::log_reader() {
  return std::unique_ptr<kafka::LogReader>(std::make_unique<SimulatedLogReader>(broker_, settings_));
}

Result<std::string> SimulatedCluster::cluster_id(Milliseconds limit) {
  if (auto refused = refusal(broker_.faults().next(Call::kFacts, broker_.draw()), "cluster id")) {
    broker_.wait(limit);
    return *refused;
  }
  return broker_.settings().cluster_id;
}

Result<kafka::TopicFacts> SimulatedCluster::topic_facts(kafka::TopicIndex topic, Milliseconds limit) {
  if (auto refused = refusal(broker_.faults().next(Call::kFacts, broker_.draw()), "topic facts")) {
    broker_.wait(limit);
    return *refused;
  }
  const auto known = broker_.topic(settings_.topics[topic.value()]);
  if (!known) return Error{ErrorClass::kInvalid, 0, "topic " + settings_.topics[topic.value()] + " does not exist"};
  return broker_.facts(*known);
}

}  // namespace reseq::simulation
