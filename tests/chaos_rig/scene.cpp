#include "tests/chaos_rig/scene.h"

#include <chrono>
#include <span>

#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "tests/support/broker.h"
#include "tests/support/process.h"

namespace reseq::chaos {

Cluster& one_broker() {
  static const test::TempDir folder;
  static Cluster cluster({.folder = folder.path() + "/cluster"});
  return cluster;
}

Scene::Scene(Cluster& cluster, std::int32_t replicas) : cluster_(cluster), topic_(test::unique_name("rig")) {
  const auto admin = good(kafka::Admin::open(connection("admin")));
  const kafka::TopicSpec spec{.name = topic_, .partitions = 1, .replication = replicas};
  good(admin->create_topics(std::span(&spec, 1), kLong));
}

kafka::Connection Scene::connection(const std::string& client) const {
  return {.bootstrap_servers = cluster_.bootstrap_servers(),
          .client_id = client,
          .log = [](int, std::string_view, std::string_view) {},
          .socket_timeout = Milliseconds(2'000)};
}

kafka::ClusterSettings Scene::settings() const {
  return {.connection = connection(topic_),
          .topics = {topic_},
          .group_id = topic_,
          .group_instance_id = topic_ + ".1",
          .transactional_id = topic_,
          .session_timeout = Milliseconds(6'000)};
}

std::unique_ptr<kafka::PlainProducer> Scene::plain_producer(const std::string& client) const {
  return good(kafka::PlainProducer::open(connection(client)));
}

std::unique_ptr<kafka::Producer> Scene::producer(kafka::ClusterSettings settings) {
  opened_.push_back(good(kafka::open_cluster(std::move(settings))));
  auto made = good(opened_.back()->producer());
  good(settled([&] { return made->init(kLong); }));
  return made;
}

std::vector<std::string> Scene::committed_payloads() {
  auto settings = this->settings();
  settings.connection.client_id = "reader";
  const auto cluster = good(kafka::open_cluster(settings));
  const auto reader = good(cluster->log_reader());
  const auto end = good(reader->high_watermarks(std::span(&kPlace, 1), kLong)).front().offset;
  const kafka::TopicPartitionOffset begin{kPlace, Offset(0)};
  good(reader->assign(std::span(&begin, 1)));
  std::vector<std::string> payloads;
  for (const auto until = std::chrono::steady_clock::now() + kPatience; std::chrono::steady_clock::now() < until;) {
    const auto polled = good(reader->poll(kShort));
    if (const auto* record = std::get_if<kafka::Record>(&polled)) payloads.emplace_back(record->payload.value_or(""));
    if (const auto* reached = std::get_if<kafka::EndOfLog>(&polled); reached != nullptr && reached->offset >= end)
      return payloads;
  }
  throw std::runtime_error("the reader did not reach the end: a transaction is open");
}

void put(kafka::PlainProducer& producer, const std::string& topic, const std::string& payload) {
  good(producer.send(topic, {}, payload, {}));
  good(producer.flush(kLong));
}

void put(kafka::Producer& producer, const std::string& payload) {
  good(producer.produce({.topic = kPlace.topic, .partition = kPlace.partition, .payload = payload}));
  good(producer.flush(kLong));  // the bytes are not needed any more
}

}  // namespace reseq::chaos
