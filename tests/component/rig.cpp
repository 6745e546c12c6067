#include "tests/component/rig.h"

#include <chrono>

#include "kafka/librdkafka_cluster.h"
#include "tests/support/broker.h"

namespace reseq::kafka {

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point in(Milliseconds limit) {
  return Clock::now() + std::chrono::milliseconds(limit.value());
}

}  // namespace

Rig::Rig(int topics, std::int32_t partitions)
    : name_(test::unique_name("app")), admin_(good(Admin::open(connection()))) {
  std::vector<TopicSpec> specs;
  for (int i = 0; i < topics; ++i) {
    topics_.push_back(name_ + "." + std::string(1, static_cast<char>('a' + i)));
    specs.push_back({.name = topics_.back(), .partitions = partitions});
  }
  good(admin_->create_topics(specs, kLong));
}

Connection Rig::connection() const {
  return {.bootstrap_servers = test::Broker::shared().bootstrap_servers(),
          .client_id = "test",
          .log = [](int, std::string_view, std::string_view) {}};
}

ClusterSettings Rig::settings(const std::string& instance) const {
  return {.connection = connection(),
          .topics = topics_,
          .group_id = name_,
          .group_instance_id = instance,
          .transactional_id = name_ + "." + instance,
          .session_timeout = Milliseconds(6'000)};
}

std::unique_ptr<Cluster> Rig::cluster(const std::string& instance) const {
  return good(open_cluster(settings(instance)));
}

std::unique_ptr<Producer> ready_producer(Cluster& cluster) {
  auto producer = good(cluster.producer());
  good(until_settled([&] { return producer->init(kLong); }));
  return producer;
}

void produce(Producer& producer, TopicPartition where, int first, int count) {
  std::vector<std::string> payloads;
  for (int i = first; i < first + count; ++i) payloads.push_back(std::to_string(i));
  for (const std::string& payload : payloads)
    good(producer.produce({.topic = where.topic, .partition = where.partition, .key = "k", .payload = payload}));
  good(producer.flush(kLong));  // the bytes are not needed any more
}

void commit_records(Producer& producer, TopicPartition where, int first, int count) {
  good(producer.begin());
  produce(producer, where, first, count);
  good(producer.commit(kLong));
}

Assigned wait_assigned(Consumer& consumer) {
  for (const auto until = in(kLong); Clock::now() < until;) {
    auto polled = good(consumer.poll(kShort));
    if (auto* assigned = std::get_if<Assigned>(&polled)) return std::move(*assigned);
  }
  throw std::runtime_error("the group assigned nothing");
}

Record next_record(Consumer& consumer) {
  for (const auto until = in(kLong); Clock::now() < until;) {
    auto polled = good(consumer.poll(kShort));
    if (auto* record = std::get_if<Record>(&polled)) return std::move(*record);
  }
  throw std::runtime_error("no record came");
}

int read_to(LogReader& reader, Offset end) {
  int records = 0;
  for (const auto until = in(kLong); Clock::now() < until;) {
    auto polled = good(reader.poll(kShort));
    if (std::holds_alternative<Record>(polled)) ++records;
    if (const auto* reached = std::get_if<EndOfLog>(&polled); reached != nullptr && reached->offset >= end)
      return records;
  }
  throw std::runtime_error("the reader did not reach the end");
}

}  // namespace reseq::kafka
