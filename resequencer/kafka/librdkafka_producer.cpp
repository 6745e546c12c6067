#include "kafka/librdkafka_producer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/assert.h"
#include "kafka/errors.h"
#include "kafka/group_metadata.h"
#include "kafka/produce_fields.h"

namespace reseq::kafka {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kQueueMessagesMax = 1'000'000;
constexpr std::uint64_t kQueueKilobytesMax = 1024 * 1024;
constexpr Milliseconds kLinger{5};
// A connection that nobody uses is closed after so many socket time-outs, or so much longer than one.
// rd_kafka_send_offsets_to_transaction has no limit while it looks for the coordinator of the group: librdkafka to 2.15
// may drop that question (rdkafka_coord.c, `creq_ts_timeout` is never looked at) and asks again when a connection
// changes its state. Without this none might: the connections of a producer that waits are silent. It has to be longer
// than an answer may take, and shorter than a step of a worker (runtime/application/internals.h, stuck_after).
constexpr std::int64_t kIdleSocketTimeouts = 4;
constexpr Milliseconds kIdleBeyondSocketTimeout{15'000};

// Behind a message's opaque pointer: it was produced with an explicit partition.
char explicit_partition;

constexpr const char* kInterceptor = "reseq_doubt";

// Requests that change a transaction, by their key in Kafka's protocol.
bool is_part_of_a_transaction(int api) {
  constexpr std::array kApis = {0 /*Produce*/, 24 /*AddPartitionsToTxn*/, 25 /*AddOffsetsToTxn*/, 26 /*EndTxn*/,
                                28 /*TxnOffsetCommit*/};
  return std::find(kApis.begin(), kApis.end(), api) != kApis.end();
}

// An error of librdkafka's own, as a lost connection or a time-out. What brokers say of a request is in their response;
// of one that was never sent because its coordinator was not found, librdkafka repeats here what was said instead.
bool is_without_answer(rd_kafka_resp_err_t error) {
  return error > RD_KAFKA_RESP_ERR__BEGIN && error < RD_KAFKA_RESP_ERR__END;
}

}  // namespace

Result<std::unique_ptr<Producer>> LibrdkafkaProducer::open(const ClusterSettings& settings) {
  std::unique_ptr<LibrdkafkaProducer> made(new LibrdkafkaProducer(TopicNames(settings.topics)));
  if (auto started = made->start(settings); !started) return started.error();
  return std::unique_ptr<Producer>(std::move(made));
}

Result<> LibrdkafkaProducer::start(const ClusterSettings& settings) {
  context_.client = this;
  recycle_on_doubt_ = settings.recycle_on_doubt;
  membership_required_ = settings.membership_required;
  group_id_ = settings.group_id;
  socket_timeout_ = settings.connection.socket_timeout;
  ClientConf conf(settings.connection, context_);
  conf.set("transactional.id", settings.transactional_id);
  conf.set_flag("enable.idempotence", true);
  conf.set("retry.backoff.ms", "10");  // with the default of 100 a transaction takes up to 104 ms
  conf.set("transaction.timeout.ms", settings.transaction_timeout);
  conf.set("message.timeout.ms", settings.transaction_timeout);
  conf.set("partitioner", settings.partitioner);
  conf.set("linger.ms", kLinger);
  context_.closes_idle = true;
  if (!conf.user_sets("connections.max.idle.ms")) {
    const std::int64_t socket = socket_timeout_.value();
    conf.set("connections.max.idle.ms",
             Milliseconds(std::min(kIdleSocketTimeouts * socket, socket + kIdleBeyondSocketTimeout.value())));
  }
  conf.set("compression.codec", "none");
  conf.set_number("message.max.bytes", settings.message_bytes_max);
  conf.set_number("batch.size", settings.batch_bytes_max);
  conf.set_number("queue.buffering.max.messages", kQueueMessagesMax);
  conf.set_number("queue.buffering.max.kbytes", kQueueKilobytesMax);
  rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
  const auto added = rd_kafka_conf_interceptor_add_on_new(conf.get(), kInterceptor, on_new, this);
  RESEQ_ASSERT(added == RD_KAFKA_RESP_ERR_NO_ERROR, "a producer that does not see its responses");
  auto client = conf.make_producer();
  if (!client) return client.error();
  handle_ = std::move(client).value();
  return Done{};
}

Result<> LibrdkafkaProducer::know_topics(Milliseconds limit) {
  if (handles_.empty()) {
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      rd_kafka_topic_conf_t* conf = rd_kafka_default_topic_conf_dup(handle_.get());
      rd_kafka_topic_conf_set_opaque(conf, &progress_[i]);
      const auto& name = topics_.name(TopicIndex(static_cast<std::uint16_t>(i)));
      handles_.emplace_back(rd_kafka_topic_new(handle_.get(), name.c_str(), conf));
      RESEQ_ASSERT(handles_.back() != nullptr, "librdkafka refused the name of a topic");
    }
  }
  const rd_kafka_metadata_t* answer = nullptr;
  const auto code = rd_kafka_metadata(handle_.get(), 0, nullptr, &answer, timeout_ms(limit));
  const MetadataHandle metadata(answer);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "metadata of topics");
  return Done{};
}

template <typename Call>
Result<> LibrdkafkaProducer::transact(const char* what, Call call) {
  const auto started = Clock::now();
  const ErrorHandle error(call());
  rd_kafka_poll(handle_.get(), 0);  // what librdkafka has to tell of its connections
  if (Clock::now() - started > std::chrono::milliseconds(socket_timeout_.value())) in_doubt_ = true;
  if (!error) return Done{};
  Error triaged = error_of(*error, what);
  if (triaged.what_to_do == ErrorClass::kRetriable || triaged.what_to_do == ErrorClass::kTimeout) in_doubt_ = true;
  return triaged;
}

Result<> LibrdkafkaProducer::init(Milliseconds limit) {
  if (auto known = know_topics(limit); !known) return known;
  const ErrorHandle error(rd_kafka_init_transactions(handle_.get(), timeout_ms(limit)));
  if (error) return error_of(*error, "init transactions");
  return Done{};
}

Result<> LibrdkafkaProducer::begin() {
  RESEQ_ASSERT(!in_doubt(), "a producer in doubt must not begin another transaction");
  RESEQ_ASSERT(!open_, "a transaction is open already");
  const ErrorHandle error(rd_kafka_begin_transaction(handle_.get()));
  if (error) return error_of(*error, "begin transaction");
  undelivered_.reset();
  open_ = true;
  return Done{};
}

Result<> LibrdkafkaProducer::produce(const OutgoingRecord& record) {
  RESEQ_ASSERT(record.topic.value() < handles_.size(), "produce before init, or to an unknown topic");
  HeadersHandle headers = headers_.take(record);
  ProduceFields fields;
  fields.add(RD_KAFKA_VTYPE_RKT).u.rkt = handles_[record.topic.value()].get();
  fields.add_bytes(RD_KAFKA_VTYPE_VALUE, record.payload);
  fields.add_bytes(RD_KAFKA_VTYPE_KEY, record.key);
  fields.add(RD_KAFKA_VTYPE_TIMESTAMP).u.i64 = record.timestamp.value();
  if (headers) fields.add(RD_KAFKA_VTYPE_HEADERS).u.headers = headers.get();
  if (record.partition) {
    fields.add(RD_KAFKA_VTYPE_PARTITION).u.i32 = record.partition->value();
    fields.add(RD_KAFKA_VTYPE_OPAQUE).u.ptr = &explicit_partition;
  }
  const ErrorHandle error(rd_kafka_produceva(handle_.get(), fields.data(), fields.size()));
  if (error) {
    OutgoingHeaders::give_back(record, std::move(headers));
    return refused_by_state(*error);
  }
  (void)headers.release();  // the message in the queue owns them
  if (record.headers_from != nullptr) record.headers_from->headers.clear();
  if (record.partition) {
    Progress& of_partition = progress({record.topic, *record.partition});
    ++of_partition.outstanding;
  }
  return Done{};
}

// A transaction that has failed meanwhile takes no more records: librdkafka calls that a wrong state.
Result<> LibrdkafkaProducer::refused_by_state(const rd_kafka_error_t& error) {
  const rd_kafka_resp_err_t code = rd_kafka_error_code(&error);
  if (auto good = usable(*handle_, "produce"); !good) return good;
  Error triaged = error_of(code, std::string("produce: ") + rd_kafka_error_string(&error));
  if (code == RD_KAFKA_RESP_ERR__STATE && open_) triaged.what_to_do = ErrorClass::kAbort;
  return triaged;
}

void LibrdkafkaProducer::poll(Milliseconds limit) {
  rd_kafka_poll(handle_.get(), timeout_ms(limit));
}

Result<> LibrdkafkaProducer::flush(Milliseconds limit) {
  const auto code = rd_kafka_flush(handle_.get(), timeout_ms(limit));
  if (auto good = usable(*handle_, "flush"); !good) return good;
  if (undelivered_) return *undelivered_;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "flush");
  return Done{};
}

Result<> LibrdkafkaProducer::send_offsets(std::span<const TopicPartitionOffset> next, const GroupMetadata& group,
                                          Milliseconds limit) {
  RESEQ_ASSERT(!next.empty(), "an empty list of offsets is accepted and commits nothing");
  for (const auto& one : next) RESEQ_ASSERT(one.offset.value() >= 0, "an invalid offset is skipped without an error");
  const auto& membership = static_cast<const LibrdkafkaGroupMetadata&>(group);
  const bool fences = membership.membership().fences();
  if (!fences && membership_required_)
    return Error{ErrorClass::kAbort, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,
                 "send offsets: the membership in the group has no generation or member id, so nothing would fence it"};
  if (auto flushed = flush(limit); !flushed) return flushed;
  const PartitionList list = list_of(topics_, next);
  const GroupMetadataHandle no_member(fences ? nullptr : rd_kafka_consumer_group_metadata_new(group_id_.c_str()));
  return transact("send offsets", [&] {
    return rd_kafka_send_offsets_to_transaction(handle_.get(), list.get(),
                                                fences ? membership.handle() : no_member.get(), timeout_ms(limit));
  });
}

Result<> LibrdkafkaProducer::commit(Milliseconds limit) {
  if (auto flushed = flush(limit); !flushed) return flushed;
  auto committed = transact("commit", [&] { return rd_kafka_commit_transaction(handle_.get(), timeout_ms(limit)); });
  if (committed) open_ = false;
  return committed;
}

Result<> LibrdkafkaProducer::abort(Milliseconds limit) {
  const auto code = rd_kafka_flush(handle_.get(), timeout_ms(limit));
  if (auto good = usable(*handle_, "abort"); !good) return good;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    in_doubt_ = true;
    return error_of(code, "abort: flush");
  }
  auto aborted = transact("abort", [&] { return rd_kafka_abort_transaction(handle_.get(), timeout_ms(limit)); });
  if (aborted) open_ = false;
  return aborted;
}

LibrdkafkaProducer::Progress& LibrdkafkaProducer::progress(TopicPartition where) {
  auto& partitions = progress_[where.topic.value()];
  const auto place = static_cast<std::size_t>(where.partition.value());
  if (place >= partitions.size()) partitions.resize(place + 1);
  return partitions[place];
}

std::optional<Offset> LibrdkafkaProducer::delivered(TopicPartition where) const {
  const auto& partitions = progress_[where.topic.value()];
  const auto place = static_cast<std::size_t>(where.partition.value());
  if (place >= partitions.size() || partitions[place].outstanding > 0) return std::nullopt;
  if (partitions[place].last == kNoOffset) return std::nullopt;
  return partitions[place].last;
}

void LibrdkafkaProducer::on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto& self = *static_cast<LibrdkafkaProducer*>(context_of(opaque).client);
  // What was purged tells only that something else failed before.
  const bool purged = self.undelivered_ && (self.undelivered_->code == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
                                            self.undelivered_->code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT);
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && (!self.undelivered_ || purged)) {
    Error error =
        error_of(message->err, std::string("record not delivered, topic ") + rd_kafka_topic_name(message->rkt));
    error.what_to_do = ErrorClass::kAbort;
    self.undelivered_ = std::move(error);
  }
  // librdkafka takes DUPLICATE_SEQUENCE_NUMBER for success, and a record for written when a later one was; but where it
  // lies, nobody has told (PlainProducer).
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && message->offset < 0 && !self.undelivered_)
    self.undelivered_ =
        Error{ErrorClass::kAbort, RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER,
              std::string("record acknowledged without an offset, topic ") + rd_kafka_topic_name(message->rkt)};
  if (message->_private != &explicit_partition) return;
  auto& partitions = *static_cast<std::vector<Progress>*>(rd_kafka_topic_opaque(message->rkt));
  Progress& of_partition = partitions[static_cast<std::size_t>(message->partition)];
  --of_partition.outstanding;
  of_partition.last = message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? Offset(message->offset) : kNoOffset;
}

rd_kafka_resp_err_t LibrdkafkaProducer::on_new(rd_kafka_t* client, const rd_kafka_conf_t*, void* self, char*,
                                               std::size_t) {
  const auto added = rd_kafka_interceptor_add_on_response_received(client, kInterceptor, on_response, self);
  RESEQ_ASSERT(added == RD_KAFKA_RESP_ERR_NO_ERROR, "a producer that does not see its responses");
  return added;
}

// Every request comes by here before librdkafka repeats it or answers for it: with its response, or with the error for
// which there is none. What librdkafka says of its connections would not do: of errors that are alike it tells once in
// 30 s, and the connection of an EndTxn that it repeats may be lost just then.
rd_kafka_resp_err_t LibrdkafkaProducer::on_response(rd_kafka_t*, int, const char*, int32_t, int16_t api, int16_t,
                                                    int32_t, std::size_t, int64_t, rd_kafka_resp_err_t error,
                                                    void* self) {
  if (is_without_answer(error) && is_part_of_a_transaction(api))
    static_cast<LibrdkafkaProducer*>(self)->in_doubt_ = true;
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace reseq::kafka
