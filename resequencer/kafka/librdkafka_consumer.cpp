#include "kafka/librdkafka_consumer.h"

#include <utility>

#include "base/assert.h"
#include "kafka/consumer_polling.h"
#include "kafka/error_questions.h"
#include "kafka/errors.h"
#include "kafka/group_metadata.h"
#include "kafka/message_view.h"

namespace reseq::kafka {

namespace {

constexpr int kLogNotice = 5;

}  // namespace

Result<std::unique_ptr<Consumer>> LibrdkafkaConsumer::open(const ClusterSettings& settings, TopicIndex subscribed) {
  std::unique_ptr<LibrdkafkaConsumer> made(
      new LibrdkafkaConsumer(TopicNames(settings.topics), subscribed, settings.headers_max));
  if (auto started = made->start(settings); !started) return started.error();
  return std::unique_ptr<Consumer>(std::move(made));
}

Result<> LibrdkafkaConsumer::start(const ClusterSettings& settings) {
  context_.client = this;
  ClientConf conf(settings.connection, context_);
  conf.set_reader(Isolation::kReadCommitted, settings.message_bytes_max, settings.fetch_queue_bytes_max);
  conf.set("group.id", settings.group_id);
  if (!settings.group_instance_id.empty()) conf.set("group.instance.id", settings.group_instance_id);
  conf.set("session.timeout.ms", settings.session_timeout);
  conf.set("heartbeat.interval.ms", Milliseconds(settings.session_timeout.value() / 10));
  conf.set("max.poll.interval.ms", settings.max_poll_interval);
  conf.set("auto.offset.reset", "error");
  rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
  auto client = conf.make_consumer();
  if (!client) return client.error();
  handle_ = std::move(client).value();
  rd_kafka_poll_set_consumer(handle_.get());

  const TopicPartition all{subscribed_, Partition(RD_KAFKA_PARTITION_UA)};
  const PartitionList list = list_of(topics_, std::span(&all, 1));
  if (const auto code = rd_kafka_subscribe(handle_.get(), list.get()); code != 0) return error_of(code, "subscribe");
  return Done{};
}

Result<Polled> LibrdkafkaConsumer::poll(Milliseconds limit) {
  MessageHandle message;
  if (rebalances_.empty()) message.reset(rd_kafka_consumer_poll(handle_.get(), timeout_ms(limit)));
  if (!rebalances_.empty()) {
    // A record cannot come together with a rebalance (the callback yields); if it did, nobody has asked for it yet.
    Polled event = std::move(rebalances_.front());
    rebalances_.pop_front();
    return event;
  }
  const auto kind = kind_of(*handle_, message.get(), context_.log);
  if (!kind && of_one_partition(message.get(), kind.error()))
    return Polled(PartitionFailure{{topics_.index(rd_kafka_topic_name(message->rkt)), Partition(message->partition)},
                                   kind.error()});
  // The right to see a topic went: the group takes its partitions back, and gives them again when that is granted
  // again. A member that never had any must be told.
  if (!kind && was_assigned_ && message && message->rkt != nullptr && is_forbidden(kind.error())) {
    context_.log(kLogWarning, "POLL", kind.error().message);
    return Polled(Nothing{});
  }
  if (!kind) return kind.error();
  if (kind.value() == MessageKind::kNothing) return Polled(Nothing{});
  const TopicPartition where{topics_.index(rd_kafka_topic_name(message->rkt)), Partition(message->partition)};
  if (kind.value() == MessageKind::kEndOfLog) return Polled(EndOfLog{where, Offset(message->offset)});
  prefetch_.took_one(*handle_);
  Polled event(std::in_place_type<Record>);  // in its place: it is some hundred bytes
  Record& record = *std::get_if<Record>(&event);
  record.where = where;
  fill_all_but_headers(record, *message);
  record.left_out = read_some_headers(*message, headers_max_, record.headers);
  record.owner = {message.release(), destroy_message};
  return event;
}

void LibrdkafkaConsumer::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t event,
                                      rd_kafka_topic_partition_list_t* list, void* opaque) {
  auto& self = *static_cast<LibrdkafkaConsumer*>(context_of(opaque).client);
  if (event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    self.was_assigned_ = true;
    self.rebalances_.emplace_back(Assigned{self.partitions_of(*list), capture_group(*client)});
    const PartitionList none(rd_kafka_topic_partition_list_new(0));
    rd_kafka_assign(client, none.get());
  } else {
    if (event != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
      self.context_.log(kLogNotice, "REBALANCE", rd_kafka_err2str(event));
    const bool lost = event != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS || rd_kafka_assignment_lost(client) != 0;
    self.rebalances_.emplace_back(Revoked{self.partitions_of(*list), lost});
    rd_kafka_assign(client, nullptr);
  }
  rd_kafka_yield(client);
}

std::vector<Partition> LibrdkafkaConsumer::partitions_of(const rd_kafka_topic_partition_list_t& list) const {
  std::vector<Partition> partitions;
  for (int i = 0; i < list.cnt; ++i) {
    RESEQ_ASSERT(topics_.index(list.elems[i].topic) == subscribed_, "the group gave a topic that is not subscribed");
    partitions.emplace_back(list.elems[i].partition);
  }
  return partitions;
}

Result<> LibrdkafkaConsumer::assign(std::span<const TopicPartitionOffset> positions) {
  return assign_offsets(*handle_, topics_, positions);
}

Result<std::vector<TopicPartitionOffset>> LibrdkafkaConsumer::committed(std::span<const TopicPartition> which,
                                                                        Milliseconds limit) {
  if (which.empty()) return std::vector<TopicPartitionOffset>{};
  const PartitionList list = list_of(topics_, which);
  if (const auto code = rd_kafka_committed(handle_.get(), list.get(), timeout_ms(limit)); code != 0)
    return error_of(code, "committed offsets");
  if (auto good = check_each(*list, "committed offsets"); !good) return good.error();
  return offsets_of(topics_, *list);
}

Result<std::vector<TopicPartitionOffset>> LibrdkafkaConsumer::begins(std::span<const TopicPartition> which,
                                                                     Milliseconds limit) {
  return ask_offsets(*handle_, topics_, which, LogSide::kBegin, limit);
}

Result<std::vector<TopicPartitionOffset>> LibrdkafkaConsumer::stable_ends(std::span<const TopicPartition> which,
                                                                          Milliseconds limit) {
  return ask_offsets(*handle_, topics_, which, LogSide::kEnd, limit);
}

std::optional<Offset> LibrdkafkaConsumer::known_end(TopicPartition where) const {
  std::int64_t low = 0;
  std::int64_t high = 0;
  const auto code = rd_kafka_get_watermark_offsets(handle_.get(), topics_.name(where.topic).c_str(),
                                                   where.partition.value(), &low, &high);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || high < 0) return std::nullopt;
  return Offset(high);
}

std::shared_ptr<const GroupMetadata> LibrdkafkaConsumer::group_now() {
  return capture_group(*handle_);
}

void LibrdkafkaConsumer::close(Milliseconds limit) {
  rebalances_.clear();
  close_consumer(
      *handle_, limit, [](rd_kafka_t*, void*) {}, nullptr);
}

}  // namespace reseq::kafka
