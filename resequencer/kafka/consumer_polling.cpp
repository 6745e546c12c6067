#include "kafka/consumer_polling.h"

#include <chrono>
#include <string>

#include "kafka/error_questions.h"
#include "kafka/errors.h"

namespace reseq::kafka {

namespace {

using Clock = std::chrono::steady_clock;

// An error of a whole topic names no offset, and partition 0.
bool names_partition(const rd_kafka_message_t& message) {
  return message.rkt != nullptr && message.offset >= 0;
}

std::string place(const rd_kafka_message_t& message) {
  if (message.rkt == nullptr) return "consumer";
  const std::string topic = "consumer, topic " + std::string(rd_kafka_topic_name(message.rkt));
  return names_partition(message) ? topic + " partition " + std::to_string(message.partition) : topic;
}

// A topic that was created a moment ago is not known everywhere yet.
bool not_known_yet(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

// One partition cannot be read on, and librdkafka does not see to it by itself.
bool stops_partition(const rd_kafka_message_t& message) {
  if (!names_partition(message)) return false;
  const Error error = error_of(message.err, "");
  return is_damage(error) || (error.what_to_do == ErrorClass::kInvalid && !not_known_yet(message.err));
}

Error explained(const rd_kafka_message_t& message) {
  Error error = error_of(message.err, place(message));
  if (message.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE || message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
    error.message +=
        "; the next offset to read is not in the log any more: retention has deleted records that were " +
        std::string("never processed, or the topic was created anew. `resequencer seek` goes on at another one");
  return error;
}

}  // namespace

Result<MessageKind> kind_of(rd_kafka_t& consumer, const rd_kafka_message_t* message, const LogCallback& log) {
  if (message == nullptr) {
    if (auto good = usable(consumer, "consumer"); !good) return good.error();
    return MessageKind::kNothing;
  }
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return MessageKind::kRecord;
  if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) return MessageKind::kEndOfLog;
  if (auto good = usable(consumer, "consumer"); !good) return good.error();
  const Error error = explained(*message);
  if (stops_partition(*message)) return error;
  switch (error.what_to_do) {
    case ErrorClass::kFenced:
      return error;
    case ErrorClass::kInvalid:
      if (!not_known_yet(message->err)) return error;
      [[fallthrough]];
    case ErrorClass::kFatal:  // of a request: the client is usable and makes another one
    case ErrorClass::kAbort:  // the group tells the rest by a rebalance
    case ErrorClass::kRetriable:
    case ErrorClass::kTimeout:
      log(kLogWarning, "POLL", error.message);
      return MessageKind::kNothing;
  }
  return MessageKind::kNothing;
}

bool of_one_partition(const rd_kafka_message_t* message, const Error& error) {
  return message != nullptr && message->err == error.code && stops_partition(*message);
}

void close_consumer(rd_kafka_t& consumer, Milliseconds limit, void (*revoke)(rd_kafka_t*, void*), void* opaque) {
  const auto until = Clock::now() + std::chrono::milliseconds(timeout_ms(limit));
  const QueueHandle queue(rd_kafka_queue_new(&consumer));
  // It fails when the client is unusable already; then there is nothing to leave.
  if (const ErrorHandle error(rd_kafka_consumer_close_queue(&consumer, queue.get())); error) return;
  while (rd_kafka_consumer_closed(&consumer) == 0 && Clock::now() < until) {
    const EventHandle event(rd_kafka_queue_poll(queue.get(), 50));
    if (!event || rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_REBALANCE) continue;
    if (rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) revoke(&consumer, opaque);
    rd_kafka_assign(&consumer, nullptr);
  }
}

}  // namespace reseq::kafka
