#include "kafka/librdkafka_log_reader.h"

#include <utility>

#include "kafka/consumer_polling.h"
#include "kafka/errors.h"
#include "kafka/message_view.h"

namespace reseq::kafka {

Result<std::unique_ptr<LogReader>> LibrdkafkaLogReader::open(const ClusterSettings& settings, ReaderUse use) {
  std::unique_ptr<LibrdkafkaLogReader> made(new LibrdkafkaLogReader(TopicNames(settings.topics)));
  if (auto started = made->start(settings, use); !started) return started.error();
  return std::unique_ptr<LogReader>(std::move(made));
}

Result<> LibrdkafkaLogReader::start(const ClusterSettings& settings, ReaderUse use) {
  for (const Isolation isolation : {Isolation::kReadCommitted, Isolation::kReadUncommitted}) {
    ClientConf conf(settings.connection, context_);
    conf.set_reader(isolation, settings.message_bytes_max, settings.fetch_queue_bytes_max);
    if (use == ReaderUse::kScattered) conf.fetch_little();
    // librdkafka assigns only with a group; it is never joined, nothing is ever committed.
    conf.set("group.id", settings.group_id);
    conf.set("auto.offset.reset", "error");
    auto client = conf.make_consumer();
    if (!client) return client.error();
    rd_kafka_poll_set_consumer(client.value().get());
    (isolation == Isolation::kReadCommitted ? stable_ : uncommitted_) = std::move(client).value();
  }
  return Done{};
}

Result<> LibrdkafkaLogReader::assign(std::span<const TopicPartitionOffset> positions) {
  reads_ = !positions.empty();
  return assign_offsets(*stable_, topics_, positions);
}

Result<LogPolled> LibrdkafkaLogReader::poll(Milliseconds limit) {
  MessageHandle message(rd_kafka_consumer_poll(stable_.get(), timeout_ms(limit)));
  const auto kind = kind_of(*stable_, message.get(), context_.log);
  if (!kind && of_one_partition(message.get(), kind.error()))
    return LogPolled(PartitionFailure{{topics_.index(rd_kafka_topic_name(message->rkt)), Partition(message->partition)},
                                      kind.error()});
  if (!kind) return kind.error();
  if (kind.value() == MessageKind::kNothing) {
    prefetch_.took_none(*stable_);
    return LogPolled(Nothing{});
  }
  const TopicPartition where{topics_.index(rd_kafka_topic_name(message->rkt)), Partition(message->partition)};
  if (kind.value() == MessageKind::kEndOfLog) return LogPolled(EndOfLog{where, Offset(message->offset)});
  prefetch_.took_one(*stable_);
  Record record;
  record.where = where;
  fill(record, std::move(message));
  return LogPolled(std::move(record));
}

Result<std::vector<TopicPartitionOffset>> LibrdkafkaLogReader::begins(std::span<const TopicPartition> which,
                                                                      Milliseconds limit) {
  return ask_offsets(*stable_, topics_, which, LogSide::kBegin, limit);
}

Result<std::vector<TopicPartitionOffset>> LibrdkafkaLogReader::stable_ends(std::span<const TopicPartition> which,
                                                                           Milliseconds limit) {
  return ask_offsets(*stable_, topics_, which, LogSide::kEnd, limit);
}

Result<std::vector<TopicPartitionOffset>> LibrdkafkaLogReader::high_watermarks(std::span<const TopicPartition> which,
                                                                               Milliseconds limit) {
  return ask_offsets(*uncommitted_, topics_, which, LogSide::kEnd, limit);
}

void LibrdkafkaLogReader::serve() {
  for (rd_kafka_t* client : {stable_.get(), uncommitted_.get()}) {
    if (client == stable_.get() && reads_) continue;  // poll() does it, and what comes is its record
    const MessageHandle message(rd_kafka_consumer_poll(client, 0));
    (void)kind_of(*client, message.get(), context_.log);
  }
}

}  // namespace reseq::kafka
