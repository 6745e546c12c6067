#include "kafka/librdkafka_cluster.h"

#include <utility>

#include "base/assert.h"
#include "kafka/admin_call.h"
#include "kafka/client_conf.h"
#include "kafka/librdkafka_consumer.h"
#include "kafka/librdkafka_log_reader.h"
#include "kafka/librdkafka_producer.h"

namespace reseq::kafka {

namespace {

class LibrdkafkaCluster final : public Cluster {
 public:
  explicit LibrdkafkaCluster(ClusterSettings settings) : settings_(std::move(settings)) {}

  Result<> start() {
    auto client = make_admin_client(settings_.connection, context_);
    if (!client) return client.error();
    admin_ = std::move(client).value();
    return Done{};
  }

  Result<std::unique_ptr<Consumer>> consumer(TopicIndex subscribed) override {
    return LibrdkafkaConsumer::open(settings_, subscribed);
  }
  Result<std::unique_ptr<Producer>> producer() override { return LibrdkafkaProducer::open(settings_); }
  Result<std::unique_ptr<LogReader>> log_reader() override {
    return LibrdkafkaLogReader::open(settings_, ReaderUse::kInOrder);
  }
  Result<std::unique_ptr<LogReader>> scattered_reader() override {
    return LibrdkafkaLogReader::open(settings_, ReaderUse::kScattered);
  }
  Result<std::string> cluster_id(Milliseconds limit) override { return ask_cluster_id(*admin_, context_, limit); }

  Result<TopicFacts> topic_facts(TopicIndex topic, Milliseconds limit) override {
    RESEQ_ASSERT(topic.value() < settings_.topics.size(), "a topic that the cluster was not opened with");
    return ask_topic_facts(*admin_, settings_.topics[topic.value()], limit);
  }

 private:
  ClusterSettings settings_;
  ClientContext context_;
  ConsumerHandle admin_;
};

}  // namespace

Result<std::unique_ptr<Cluster>> open_cluster(ClusterSettings settings) {
  if (auto good = check(settings); !good) return good.error();
  auto made = std::make_unique<LibrdkafkaCluster>(std::move(settings));
  if (auto started = made->start(); !started) return started.error();
  return std::unique_ptr<Cluster>(std::move(made));
}

}  // namespace reseq::kafka
