#include "producers/topic/topic_sink.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <utility>

#include "kafka/admin.h"
#include "kafka/error_questions.h"
#include "kafka/plain_producer.h"
#include "kafka/settings.h"
#include "model/header.h"

namespace reseq::topic {
namespace {

constexpr Milliseconds kTopicLookup{30'000};

class TopicSink final : public tagging::RequestSink {
 public:
  TopicSink(std::string topic, std::unique_ptr<kafka::PlainProducer> producer)
      : topic_(std::move(topic)), producer_(std::move(producer)) {}

  Result<> produce(const tagging::TaggedRecord& record) override {
    boost::container::small_vector<Header, 4> headers;
    for (const tagging::RecordHeader& header : record.headers) headers.push_back({header.name, header.value});
    return producer_->send(topic_, record.key, record.payload, {headers.data(), headers.size()});
  }
  void poll(Milliseconds limit) override { producer_->poll(limit); }
  Result<> flush(Milliseconds limit) override { return producer_->flush(limit); }

 private:
  std::string topic_;
  std::unique_ptr<kafka::PlainProducer> producer_;
};

// A producer would only notice after its delivery timeout, record by record, that there is no such topic. Answers the
// largest batch that it takes; what the brokers do not tell this user is left to the default.
Result<std::uint64_t> ask_batch_bytes_max(const kafka::Connection& connection, const std::string& topic) {
  Result<std::unique_ptr<kafka::Admin>> admin = kafka::Admin::open(connection);
  if (!admin.ok()) return admin.error();
  const std::uint64_t otherwise = kafka::PlainProducerSettings().batch_bytes_max;
  const Result<kafka::TopicFacts> facts = admin.value()->topic_facts(topic, kTopicLookup);
  if (facts.ok()) return std::min(otherwise, facts.value().max_message_bytes);
  if (kafka::is_forbidden(facts.error())) return otherwise;
  Error error = facts.error();
  error.message = "cannot find topic " + topic + " at " + connection.bootstrap_servers + ": " + error.message;
  return error;
}

}  // namespace

kafka::Connection connection_of(const TopicSinkOptions& options) {
  kafka::Connection connection{.bootstrap_servers = options.bootstrap_servers, .client_id = "reseq-produce"};
  connection.log = kafka::log_errors_to_stderr;
  connection.librdkafka.assign(options.properties.begin(), options.properties.end());
  return connection;
}

Result<std::unique_ptr<tagging::RequestSink>> open_topic_sink(const TopicSinkOptions& options) {
  const kafka::Connection connection = connection_of(options);
  const Result<std::uint64_t> batch_bytes_max = ask_batch_bytes_max(connection, options.topic);
  if (!batch_bytes_max.ok()) return batch_bytes_max.error();
  kafka::PlainProducerSettings settings;
  settings.batch_bytes_max = batch_bytes_max.value();
  if (options.partitioner == "crc32") settings.partitioner = "consistent_random";
  settings.message_bytes_max = std::max(settings.message_bytes_max, options.record_bytes_max.value_or(0));
  settings.queue_bytes_max = std::max(settings.queue_bytes_max, 2 * settings.message_bytes_max);
  settings.queue_wait = Milliseconds(0);  // the sender polls, so that it can be stopped
  Result<std::unique_ptr<kafka::PlainProducer>> producer = kafka::PlainProducer::open(connection, settings);
  if (!producer.ok()) return producer.error();
  return std::unique_ptr<tagging::RequestSink>(std::make_unique<TopicSink>(options.topic, std::move(producer).value()));
}

}  // namespace reseq::topic
