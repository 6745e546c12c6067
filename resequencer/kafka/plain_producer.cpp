#include "kafka/plain_producer.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kafka/client_conf.h"
#include "kafka/errors.h"
#include "kafka/handles.h"
#include "kafka/outgoing_headers.h"
#include "kafka/produce_fields.h"

namespace reseq::kafka {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kRoomSlice{20};

class LibrdkafkaPlainProducer final : public PlainProducer {
 public:
  explicit LibrdkafkaPlainProducer(Milliseconds queue_wait) : queue_wait_(queue_wait) {}

  Result<> start(const Connection& connection, const PlainProducerSettings& settings) {
    context_.client = this;
    ClientConf conf(connection, context_);
    conf.set_flag("enable.idempotence", settings.idempotent);
    conf.set("partitioner", settings.partitioner);
    conf.set("linger.ms", settings.linger);
    conf.set("message.timeout.ms", settings.delivery_timeout);
    conf.set_number("message.max.bytes", settings.message_bytes_max);
    conf.set_number("batch.size", settings.batch_bytes_max);
    conf.set_number("queue.buffering.max.messages", settings.queue_messages_max);
    conf.set_number("queue.buffering.max.kbytes", std::max<std::uint64_t>(1, settings.queue_bytes_max / 1024));
    rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    auto client = conf.make_producer();
    if (!client) return client.error();
    handle_ = std::move(client).value();
    return Done{};
  }

  Result<> send(std::string_view topic, std::optional<std::string_view> key, std::optional<std::string_view> payload,
                std::span<const Header> headers, std::optional<UnixMs> timestamp,
                std::optional<Partition> partition) override {
    rd_kafka_topic_t* to = topic_handle(topic);
    if (to == nullptr) return error_of(rd_kafka_last_error(), "topic " + std::string(topic));
    HeadersHandle list = list_of(headers);
    ProduceFields fields;
    fields.add(RD_KAFKA_VTYPE_RKT).u.rkt = to;
    fields.add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = RD_KAFKA_MSG_F_COPY;
    fields.add_bytes(RD_KAFKA_VTYPE_VALUE, payload);
    fields.add_bytes(RD_KAFKA_VTYPE_KEY, key);
    fields.add(RD_KAFKA_VTYPE_TIMESTAMP).u.i64 = timestamp ? timestamp->value() : 0;
    if (partition) fields.add(RD_KAFKA_VTYPE_PARTITION).u.i32 = partition->value();
    if (list) fields.add(RD_KAFKA_VTYPE_HEADERS).u.headers = list.get();
    auto queued = enqueue(fields);
    if (queued) (void)list.release();  // the message in the queue owns them
    return queued;
  }

  void poll(Milliseconds limit) override { rd_kafka_poll(handle_.get(), timeout_ms(limit)); }

  Result<> flush(Milliseconds limit) override {
    const auto code = rd_kafka_flush(handle_.get(), timeout_ms(limit));
    if (auto good = healthy(); !good) return good;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "flush");
    return Done{};
  }

  [[nodiscard]] std::uint64_t delivered() const override { return delivered_; }
  [[nodiscard]] std::uint64_t failed() const override { return failed_; }

 private:
  Result<> healthy() {
    if (auto good = usable(*handle_, "producer"); !good) return good;
    if (first_failure_) return *first_failure_;
    return Done{};
  }

  // Waits for room in the queue.
  Result<> enqueue(const ProduceFields& fields) {
    const auto until = Clock::now() + std::chrono::milliseconds(queue_wait_.value());
    for (;;) {
      if (auto good = healthy(); !good) return good;
      const ErrorHandle error(rd_kafka_produceva(handle_.get(), fields.data(), fields.size()));
      if (!error) return Done{};
      const bool full = rd_kafka_error_code(error.get()) == RD_KAFKA_RESP_ERR__QUEUE_FULL;
      if (!full || Clock::now() >= until) return error_of(rd_kafka_error_code(error.get()), "send");
      poll(kRoomSlice);
    }
  }

  rd_kafka_topic_t* topic_handle(std::string_view name) {
    for (const auto& [known, handle] : topics_)
      if (known == name) return handle.get();
    TopicHandle made(rd_kafka_topic_new(handle_.get(), std::string(name).c_str(), nullptr));
    if (!made) return nullptr;
    return topics_.emplace_back(std::string(name), std::move(made)).second.get();
  }

  static void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    auto& self = *static_cast<LibrdkafkaPlainProducer*>(context_of(opaque).client);
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && message->offset >= 0) {
      ++self.delivered_;
      return;
    }
    ++self.failed_;
    if (self.first_failure_) return;
    Error error = refused(*message);
    // It has failed for good, whatever its kind: nothing is on its way any more.
    if (error.what_to_do != ErrorClass::kInvalid) error.what_to_do = ErrorClass::kFatal;
    self.first_failure_ = std::move(error);
  }

  // An acknowledgement without an offset is none of the broker's: librdkafka takes a record for written when a later
  // one was. But a broker that gets to lead a partition refuses the first request of a producer and takes the second,
  // when it knows nothing of that producer there yet.
  static Error refused(const rd_kafka_message_t& message) {
    const std::string topic = rd_kafka_topic_name(message.rkt);
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(message.err, "record not delivered, topic " + topic);
    return Error{ErrorClass::kFatal, RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER,
                 "record acknowledged without an offset, topic " + topic +
                     ": it may not be there; send again what was sent since the last flush"};
  }

  static void on_error(rd_kafka_t*, int, const char* reason, void* opaque) {
    context_of(opaque).log(kLogWarning, "ERROR", reason);
  }

  Milliseconds queue_wait_;
  ClientContext context_;
  std::uint64_t delivered_ = 0;
  std::uint64_t failed_ = 0;
  std::optional<Error> first_failure_;
  ProducerHandle handle_;
  std::vector<std::pair<std::string, TopicHandle>> topics_;  // destroyed before the client
};

}  // namespace

Result<std::unique_ptr<PlainProducer>> PlainProducer::open(const Connection& connection,
                                                           const PlainProducerSettings& settings) {
  if (auto good = check(connection); !good) return good.error();
  auto made = std::make_unique<LibrdkafkaPlainProducer>(settings.queue_wait);
  if (auto started = made->start(connection, settings); !started) return started.error();
  return std::unique_ptr<PlainProducer>(std::move(made));
}

}  // namespace reseq::kafka
