#include "consumers/stage/kafka_stage.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "consumers/stage/result_size.h"
#include "consumers/stage/transactional_stage.h"
#include "kafka/admin.h"
#include "kafka/group_consumer.h"
#include "kafka/librdkafka_cluster.h"
#include "kafka/plain_producer.h"

namespace reseq::stage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kTopicLookup{30'000};
// No client takes more, whatever a topic allows.
constexpr std::uint64_t kClientRecordBytesMax = 900'000'000;
// A heartbeat that takes longer is sent again.
constexpr Milliseconds kHeartbeatLimit{10'000};

class KafkaWorkReader : public WorkReader {
 public:
  static Result<std::unique_ptr<WorkReader>> open(const KafkaStageSettings& settings) {
    auto reader = std::make_unique<KafkaWorkReader>(settings.work_topic);
    kafka::GroupConsumerSettings group;
    group.group_id = settings.group;
    group.topics = {settings.work_topic};
    group.session_timeout = settings.session_timeout;
    auto consumer = kafka::GroupConsumer::join(
        settings.connection, group, [reader = reader.get()](const kafka::Rebalance& change) { reader->tell(change); });
    if (!consumer) return consumer.error();
    reader->consumer_ = std::move(consumer).value();
    return std::unique_ptr<WorkReader>(std::move(reader));
  }

  explicit KafkaWorkReader(std::string topic) : topic_(std::move(topic)) {}
  void listen(AssignmentListener& listener) override { listener_ = &listener; }

  Result<std::optional<WorkRecord>> poll(Milliseconds limit) override {
    auto polled = consumer_->poll(limit);
    if (!polled) return polled.error();
    if (!polled.value()) return std::optional<WorkRecord>();
    const kafka::PlainRecord& record = *polled.value();
    WorkRecord work{record.partition, record.offset, owned_bytes(record.key), owned_bytes(record.payload), {},
                    record.timestamp};
    for (const Header& header : record.headers)
      work.headers.push_back({std::string(header.name), owned_bytes(header.value)});
    return std::optional<WorkRecord>(std::move(work));
  }

  [[nodiscard]] std::vector<NextOffset> positions() const override {
    std::vector<NextOffset> known;
    for (const kafka::PlainOffset& position : consumer_->positions())
      if (position.offset != kNoOffset) known.push_back({position.partition, position.offset});
    return known;
  }

  Result<> commit(std::span<const NextOffset> offsets) override {
    std::vector<kafka::PlainOffset> next;
    for (const NextOffset& offset : offsets) next.push_back({topic_, offset.partition, offset.next});
    return consumer_->commit(next);
  }

  void close() override { consumer_->close(kCloseLimit); }

 private:
  void tell(const kafka::Rebalance& change) {
    if (listener_ == nullptr) return;
    std::vector<Partition> partitions;
    for (const kafka::PlainOffset& partition : change.partitions) partitions.push_back(partition.partition);
    if (change.kind == kafka::Rebalance::Kind::kAssigned)
      listener_->on_assigned(partitions);
    else
      listener_->on_revoked(partitions, change.kind == kafka::Rebalance::Kind::kRevoked);
  }

  std::string topic_;
  AssignmentListener* listener_ = nullptr;
  std::unique_ptr<kafka::GroupConsumer> consumer_;
};

// The producer counts acknowledgements but does not name them. When all results sent so far have one, each has one:
// that moment comes by itself when there is little to do, and is brought about by a flush when there is much.
class KafkaResultSender : public ResultSender {
 public:
  KafkaResultSender(std::unique_ptr<kafka::PlainProducer> producer, std::string topic, std::uint64_t record_bytes_max)
      : producer_(std::move(producer)), topic_(std::move(topic)), record_bytes_max_(record_bytes_max) {}

  Result<> send(const Ticket& ticket, std::optional<std::string_view> key, std::optional<std::string_view> payload,
                std::span<const OwnedHeader> headers) override {
    const std::vector<Header> views = views_of(headers);
    const Result<std::uint64_t> bytes = fitting_bytes(key, payload, views, record_bytes_max_);
    if (!bytes) return bytes.error();
    Result<> sent = producer_->send(topic_, key, payload, views);
    if (!sent) return sent;
    if (waiting_.empty()) oldest_ = Clock::now();
    waiting_.push_back(ticket);
    ++sent_;
    return Done{};
  }

  Result<std::vector<Ticket>> acknowledged(Milliseconds limit) override {
    producer_->poll(limit);
    if (producer_->failed() > 0 || (!waiting_.empty() && Clock::now() - oldest_ >= kFlushAfter)) {
      Result<> flushed = producer_->flush(kFlushLimit);
      if (!flushed && flushed.error().what_to_do != ErrorClass::kTimeout) return flushed.error();
    }
    if (producer_->delivered() < sent_) return std::vector<Ticket>();
    return std::exchange(waiting_, {});
  }

  [[nodiscard]] std::size_t held() const override { return 0; }  // they are sent at once
  [[nodiscard]] bool holds(const Ticket&) const override { return false; }

 private:
  static constexpr std::chrono::milliseconds kFlushAfter{100};
  static constexpr Milliseconds kFlushLimit{1'000};

  std::unique_ptr<kafka::PlainProducer> producer_;
  std::string topic_;
  std::uint64_t record_bytes_max_;
  std::vector<Ticket> waiting_;
  Clock::time_point oldest_;
  std::uint64_t sent_ = 0;
};

// What the producers to `commands` have to keep to.
struct CommandsRules {
  std::string partitioner;  // librdkafka's word
  std::uint64_t record_bytes_max;
};

Result<CommandsRules> rules_of_commands(const KafkaStageSettings& settings) {
  if (settings.partitioner != "murmur2" && settings.partitioner != "crc32")
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .message = "the partitioner " + settings.partitioner + " is neither murmur2 nor crc32"};
  Result<std::unique_ptr<kafka::Admin>> admin = kafka::Admin::open(settings.connection);
  if (!admin) return admin.error();
  Result<kafka::TopicFacts> facts = admin.value()->topic_facts(settings.commands_topic, kTopicLookup);
  if (!facts) {
    Error error = facts.error();
    error.message = "cannot ask about topic " + settings.commands_topic + ": " + error.message;
    return error;
  }
  return CommandsRules{.partitioner = settings.partitioner == "crc32" ? "consistent_random" : "murmur2_random",
                       .record_bytes_max = std::min(facts.value().max_message_bytes, kClientRecordBytesMax)};
}

// A batch that is larger than the topic takes is refused whole, however small its records are.
template <typename ProducerSettings>
void keep_to(const CommandsRules& rules, ProducerSettings& producer) {
  producer.partitioner = rules.partitioner;
  producer.batch_bytes_max = std::min(producer.batch_bytes_max, rules.record_bytes_max);
  producer.message_bytes_max = std::max(producer.message_bytes_max, rules.record_bytes_max);
}

// One that comes twice says the same, so their producer need not be idempotent, and begins at once.
LeaseKeeping leases_with(const KafkaStageSettings& settings, const CommandsRules& rules) {
  kafka::PlainProducerSettings to_commands;
  to_commands.idempotent = false;
  to_commands.queue_wait = Milliseconds(0);
  to_commands.delivery_timeout = kHeartbeatLimit;
  keep_to(rules, to_commands);
  const auto open = [connection = settings.connection, to_commands] {
    return kafka::PlainProducer::open(connection, to_commands);
  };
  return {.heartbeats = std::make_unique<KafkaHeartbeats>(open, settings.commands_topic)};
}

Result<std::unique_ptr<Stage>> open_with_transactions(const KafkaStageSettings& settings, const CommandsRules& rules) {
  kafka::ClusterSettings with;
  with.connection = settings.connection;
  with.topics = {settings.work_topic, settings.commands_topic};
  with.group_id = settings.group;
  with.group_instance_id = settings.transactional_instance;
  with.session_timeout = settings.session_timeout;
  with.transactional_id = settings.group + "." + settings.transactional_instance;
  keep_to(rules, with);
  Result<std::unique_ptr<kafka::Cluster>> cluster = kafka::open_cluster(with);
  if (!cluster) return cluster.error();
  return open_transactional_stage(std::move(cluster).value(), settings.limits, leases_with(settings, rules));
}

}  // namespace

Result<std::unique_ptr<Stage>> open_kafka_stage(const KafkaStageSettings& settings) {
  if (settings.limits.commit == CommitWhen::kOnReceipt && !settings.transactional_instance.empty())
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .message =
                     "a transactional stage commits after the work, in the transaction of its results; to "
                     "commit on receipt it must not be transactional"};
  const Result<CommandsRules> rules = rules_of_commands(settings);
  if (!rules) return rules.error();
  if (!settings.transactional_instance.empty()) return open_with_transactions(settings, rules.value());
  Result<std::unique_ptr<WorkReader>> reader = KafkaWorkReader::open(settings);
  if (!reader) return reader.error();
  kafka::PlainProducerSettings to_commands;
  to_commands.queue_wait = Milliseconds(0);  // the stage takes acknowledgements while it waits for room
  keep_to(rules.value(), to_commands);
  to_commands.queue_bytes_max = std::max(to_commands.queue_bytes_max, 2 * to_commands.message_bytes_max);
  auto producer = kafka::PlainProducer::open(settings.connection, to_commands);
  if (!producer) return producer.error();
  auto sender = std::make_unique<KafkaResultSender>(std::move(producer).value(), settings.commands_topic,
                                                    rules.value().record_bytes_max);
  return std::make_unique<Stage>(std::move(reader).value(), std::move(sender), settings.limits,
                                 leases_with(settings, rules.value()));
}

}  // namespace reseq::stage
