#include "tests/chaos/workload/drain.h"

#include <utility>

#include "kafka/librdkafka_cluster.h"
#include "tests/chaos/workload/lag_watch.h"
#include "tests/chaos/workload/plan.h"

namespace reseq::chaos {

namespace {

constexpr Milliseconds kDrainAskLimit{10'000};

std::vector<std::string> topics_of(const std::string& application_id) {
  std::vector<std::string> topics;
  for (const char* role : {"work", "requests", "commands", "control", "dead-letter", "events", "changelog"})
    topics.push_back(application_id + "." + role);
  for (const config::Target& target : targets()) topics.push_back(application_id + ".output." + target.name);
  return topics;
}

constexpr std::size_t kWork = 0;  // in topics_of()

}  // namespace

Result<std::unique_ptr<Drain>> Drain::open(const kafka::Connection& connection, const std::string& application_id) {
  std::unique_ptr<Drain> drain(new Drain(application_id, topics_of(application_id)));
  auto admin = kafka::Admin::open(connection);
  if (!admin) return admin.error();
  drain->admin_ = std::move(admin).value();
  kafka::ClusterSettings settings;
  settings.connection = connection;
  settings.topics = drain->topics_;
  settings.group_id = application_id + ".drain";  // never joined
  settings.transactional_id = settings.group_id;  // never used
  auto cluster = kafka::open_cluster(settings);
  if (!cluster) return cluster.error();
  drain->cluster_ = std::move(cluster).value();
  auto reader = drain->cluster_->log_reader();
  if (!reader) return reader.error();
  drain->reader_ = std::move(reader).value();
  return drain;
}

Result<std::string> Drain::waits_for() {
  Result<std::string> waits = lag(application_id_, "requests");
  // Offsets may be committed a moment before the work of the same transaction is visible.
  if (waits && waits.value().empty()) waits = open_transactions(kWork);
  if (waits && waits.value().empty()) waits = lag(pipeline_group(application_id_), "work");
  if (waits && waits.value().empty()) waits = lag(application_id_, "commands");
  if (waits && waits.value().empty()) waits = lag(application_id_, "control");
  for (std::size_t topic = 0; topic < topics_.size() && waits && waits.value().empty(); ++topic)
    waits = open_transactions(topic);
  return waits;
}

Result<std::string> Drain::lag(const std::string& group, const std::string& role) {
  const auto lag = admin_->lag(group, application_id_ + "." + role, kDrainAskLimit);
  if (!lag) return lag.error();
  if (lag.value() == 0) return std::string();
  return group + " is " + std::to_string(lag.value()) + " behind on " + role;
}

Result<std::string> Drain::open_transactions(std::size_t topic) {
  const auto stable = admin_->stable_ends(topics_[topic], kDrainAskLimit);
  if (!stable) return stable.error();
  std::vector<kafka::TopicPartition> partitions;
  for (const kafka::PlainOffset& end : stable.value())
    partitions.push_back({kafka::TopicIndex(static_cast<std::uint16_t>(topic)), end.partition});
  const auto high = reader_->high_watermarks(partitions, kDrainAskLimit);
  if (!high) return high.error();
  for (std::size_t i = 0; i < partitions.size(); ++i)
    if (stable.value()[i].offset != high.value()[i].offset)
      return "a transaction is open in " + topics_[topic] + "/" + std::to_string(partitions[i].partition.value());
  return std::string();
}

}  // namespace reseq::chaos
