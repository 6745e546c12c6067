#include "kafka/bystander.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "kafka/admin_call.h"
#include "kafka/client_conf.h"
#include "kafka/consumer_polling.h"
#include "kafka/errors.h"
#include "kafka/handles.h"
#include "kafka/message_view.h"
#include "kafka/partition_list.h"

namespace reseq::kafka {

namespace {

constexpr std::uint64_t kReadRecordBytesMax = 20 * 1024 * 1024;
// librdkafka wants some room for each partition, however many there are.
constexpr std::uint64_t kPartitionBytesMin = 256 * 1024;
// Errors of connections are told by the client, not by a partition.
constexpr unsigned kServeEvery = 256;

class LibrdkafkaBystander final : public Bystander {
 public:
  ~LibrdkafkaBystander() override {
    for (std::size_t i = 0; i < started_; ++i) (void)rd_kafka_consume_stop(places_[i].topic, places_[i].partition);
  }

  Result<> start(const Connection& connection, std::span<const PlainOffset> from, std::uint64_t queue_bytes_max) {
    ClientConf conf(connection, context_);
    const std::uint64_t each = queue_bytes_max / std::max<std::size_t>(1, from.size());
    conf.set_reader(Isolation::kReadCommitted, kReadRecordBytesMax, std::max(each, kPartitionBytesMin));
    conf.set("auto.offset.reset", "error");
    auto client = conf.make_consumer();
    if (!client) return client.error();
    client_ = std::move(client).value();
    for (const PlainOffset& one : from) {
      RESEQ_ASSERT(one.offset.value() >= 0, "a bystander needs explicit offsets");
      TopicHandle& topic = topics_[one.topic];
      if (!topic) topic.reset(rd_kafka_topic_new(client_.get(), one.topic.c_str(), nullptr));
      if (!topic) return error_of(rd_kafka_last_error(), "topic " + one.topic);
      places_.push_back({topic.get(), one.partition.value()});
    }
    for (; started_ < places_.size(); ++started_)
      if (rd_kafka_consume_start(places_[started_].topic, places_[started_].partition, from[started_].offset.value()) !=
          0)
        return error_of(rd_kafka_last_error(), "read " + from[started_].topic);
    return Done{};
  }

  Result<LogPolled> poll(std::size_t place, Milliseconds limit) override {
    if (++polled_ % kServeEvery == 0) (void)rd_kafka_poll(client_.get(), 0);
    const Place& at = places_[place];
    MessageHandle message(rd_kafka_consume(at.topic, at.partition, timeout_ms(limit)));
    const auto kind = kind_of(*client_, message.get(), context_.log);
    const TopicPartition where{TopicIndex(0), Partition(at.partition)};
    if (!kind && of_one_partition(message.get(), kind.error())) return LogPolled(PartitionFailure{where, kind.error()});
    if (!kind) return kind.error();
    if (kind.value() == MessageKind::kNothing) {
      (void)rd_kafka_poll(client_.get(), 0);
      return LogPolled(Nothing{});
    }
    if (kind.value() == MessageKind::kEndOfLog) return LogPolled(EndOfLog{where, Offset(message->offset)});
    Record record;
    record.where = where;
    fill(record, std::move(message));
    return LogPolled(std::move(record));
  }

 private:
  struct Place {
    rd_kafka_topic_t* topic = nullptr;
    std::int32_t partition = 0;
  };

  ClientContext context_;
  ConsumerHandle client_;  // destroyed behind its topics
  std::map<std::string, TopicHandle> topics_;
  std::vector<Place> places_;
  std::size_t started_ = 0;
  unsigned polled_ = 0;
};

}  // namespace

Result<std::unique_ptr<Bystander>> Bystander::open(const Connection& connection, std::span<const PlainOffset> from,
                                                   std::uint64_t queue_bytes_max) {
  if (auto good = check(connection); !good) return good.error();
  auto made = std::make_unique<LibrdkafkaBystander>();
  if (auto started = made->start(connection, from, queue_bytes_max); !started) return started.error();
  return std::unique_ptr<Bystander>(std::move(made));
}

Result<std::vector<PlainOffset>> offsets_at(const Connection& connection, const std::string& topic, UnixMs time,
                                            Milliseconds limit) {
  ClientContext context;
  auto client = make_admin_client(connection, context);
  if (!client) return client.error();
  const auto count = ask_partition_count(*client.value(), topic, limit);
  if (!count) return count.error();
  std::vector<PlainOffset> places;
  for (std::int32_t p = 0; p < count.value(); ++p)
    places.push_back({topic, Partition(p), Offset(std::max<std::int64_t>(0, time.value()))});
  const PartitionList list = list_of(places);
  const auto code = rd_kafka_offsets_for_times(client.value().get(), list.get(), timeout_ms(limit));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "offsets of topic " + topic);
  if (auto good = check_each(*list, "offsets of topic " + topic); !good) return good.error();
  places = offsets_of(*list);
  // No record is as new: then it is the end.
  const PartitionList ends = list_of(places);
  if (auto asked = ask_offsets(*client.value(), *ends, LogSide::kEnd, limit); !asked) return asked.error();
  const std::vector<PlainOffset> behind = offsets_of(*ends);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].offset == kNoOffset) places[i].offset = behind[i].offset;
  return places;
}

}  // namespace reseq::kafka
