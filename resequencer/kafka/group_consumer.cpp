#include "kafka/group_consumer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "kafka/admin_call.h"
#include "kafka/client_conf.h"
#include "kafka/consumer_polling.h"
#include "kafka/errors.h"
#include "kafka/handles.h"
#include "kafka/message_view.h"
#include "kafka/partition_list.h"
#include "kafka/prefetch.h"

namespace reseq::kafka {

namespace {

constexpr Milliseconds kCloseLimit{3'000};

class LibrdkafkaGroupConsumer final : public GroupConsumer {
 public:
  explicit LibrdkafkaGroupConsumer(RebalanceCallback on_rebalance) : on_rebalance_(std::move(on_rebalance)) {}
  ~LibrdkafkaGroupConsumer() override { close_once(kCloseLimit); }

  Result<> join_group(const Connection& connection, const GroupConsumerSettings& settings) {
    ClientConf conf =
        new_conf(connection, settings.isolation, settings.message_bytes_max, settings.fetch_queue_bytes_max);
    conf.set("group.id", settings.group_id);
    if (!settings.group_instance_id.empty()) conf.set("group.instance.id", settings.group_instance_id);
    conf.set("session.timeout.ms", settings.session_timeout);
    conf.set("heartbeat.interval.ms", Milliseconds(settings.session_timeout.value() / 10));
    conf.set("max.poll.interval.ms", settings.max_poll_interval);
    by_hand_ = settings.starts_by_hand;
    conf.set("auto.offset.reset", by_hand_ ? "error" : "earliest");
    rd_kafka_conf_set_rebalance_cb(conf.get(), rebalanced);
    if (auto opened = open_client(conf); !opened) return opened;
    const PartitionList topics(rd_kafka_topic_partition_list_new(static_cast<int>(settings.topics.size())));
    for (const auto& topic : settings.topics)
      rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
    const auto code = rd_kafka_subscribe(handle_.get(), topics.get());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "subscribe");
    member_ = true;
    return Done{};
  }

  Result<> open_alone(const Connection& connection, Isolation isolation) {
    const GroupConsumerSettings defaults;
    ClientConf conf = new_conf(connection, isolation, defaults.message_bytes_max, defaults.fetch_queue_bytes_max);
    conf.set("group.id", connection.client_id);  // librdkafka assigns only with a group; it is never joined
    conf.set("auto.offset.reset", "error");
    return open_client(conf);
  }

  Result<> assign_all(std::string_view topic, std::span<const PlainOffset> next, Milliseconds limit) override {
    RESEQ_ASSERT(!member_, "the group assigns the partitions of a member");
    const std::string name(topic);
    const auto count = ask_partition_count(*handle_, name, limit);
    if (!count) return count.error();
    std::vector<PlainOffset> places;
    for (std::int32_t p = 0; p < count.value(); ++p) places.push_back({name, Partition(p), kNoOffset});
    const PartitionList list = list_of(places);
    if (auto asked = ask_offsets(*handle_, *list, LogSide::kBegin, limit); !asked) return asked;
    places = offsets_of(*list);
    for (const PlainOffset& wanted : next) {
      const auto place = static_cast<std::size_t>(wanted.partition.value());
      if (wanted.topic != topic || wanted.offset == kNoOffset) continue;
      if (place >= places.size())
        return Error{ErrorClass::kInvalid, 0,
                     "topic " + name + " has no partition " + std::to_string(place) + " any more"};
      places[place].offset = wanted.offset;
    }
    if (auto assigned = assign_list(*handle_, *list_of(places)); !assigned) return assigned;
    positions_ = std::move(places);
    return Done{};
  }

  Result<> read_from(std::span<const PlainOffset> next) override {
    RESEQ_ASSERT(by_hand_, "the offsets of the group say where it is read");
    for (const PlainOffset& one : next) RESEQ_ASSERT(one.offset.value() >= 0, "reading from an invalid offset");
    const PartitionList list = list_of(next);
    if (auto assigned = assign_list(*handle_, *list); !assigned) return assigned;
    for (PlainOffset& one : positions_) one.offset = kNoOffset;
    for (const PlainOffset& one : next)
      for (PlainOffset& position : positions_)
        if (position.partition == one.partition && position.topic == one.topic) position.offset = one.offset;
    return Done{};
  }

  Result<std::optional<PlainRecord>> poll(Milliseconds limit) override {
    MessageHandle message(rd_kafka_consumer_poll(handle_.get(), timeout_ms(limit)));
    const auto kind = kind_of(*handle_, message.get(), context_.log);
    if (!kind) return kind.error();
    if (kind.value() == MessageKind::kNothing) return std::optional<PlainRecord>();
    const bool end = kind.value() == MessageKind::kEndOfLog;
    reached(*message, Offset(end ? message->offset : message->offset + 1));
    if (end) return std::optional<PlainRecord>();
    prefetch_.took_one(*handle_);
    std::optional<PlainRecord> record(std::in_place);
    record->topic = rd_kafka_topic_name(message->rkt);
    record->partition = Partition(message->partition);
    fill(*record, std::move(message));
    return record;
  }

  [[nodiscard]] std::vector<PlainOffset> positions() const override { return positions_; }

  [[nodiscard]] std::optional<Offset> known_end(std::string_view topic, Partition partition) const override {
    std::int64_t low = 0;
    std::int64_t high = 0;
    const auto code =
        rd_kafka_get_watermark_offsets(handle_.get(), std::string(topic).c_str(), partition.value(), &low, &high);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || high < 0) return std::nullopt;
    return Offset(high);
  }

  Result<> commit(std::span<const PlainOffset> next) override {
    RESEQ_ASSERT(member_, "only a member of a group commits");
    if (next.empty()) return Done{};
    for (const PlainOffset& one : next) RESEQ_ASSERT(one.offset.value() >= 0, "commit of an invalid offset");
    const PartitionList list = list_of(next);
    const auto code = rd_kafka_commit(handle_.get(), list.get(), 0);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "commit");
    return check_each(*list, "commit");
  }

  void close(Milliseconds limit) override { close_once(limit); }

 private:
  ClientConf new_conf(const Connection& connection, Isolation isolation, std::uint64_t message_bytes_max,
                      std::uint64_t queue_bytes_max) {
    context_.client = this;
    ClientConf conf(connection, context_);
    conf.set_reader(isolation, message_bytes_max, queue_bytes_max);
    return conf;
  }

  Result<> open_client(ClientConf& conf) {
    auto client = conf.make_consumer();
    if (!client) return client.error();
    handle_ = std::move(client).value();
    rd_kafka_poll_set_consumer(handle_.get());
    return Done{};
  }

  void close_once(Milliseconds limit) {
    if (!handle_ || std::exchange(closed_, true) || !member_) return;
    close_consumer(
        *handle_, limit, [](rd_kafka_t*, void* opaque) { self_of(opaque).give_back(false); }, &context_);
  }

  void reached(const rd_kafka_message_t& message, Offset next) {
    const std::string_view topic = rd_kafka_topic_name(message.rkt);
    const auto is_it = [&](const PlainOffset& one) {
      return one.partition.value() == message.partition && one.topic == topic;
    };
    if (last_reached_ >= positions_.size() || !is_it(positions_[last_reached_])) {
      const auto found = std::find_if(positions_.begin(), positions_.end(), is_it);
      if (found == positions_.end()) return;
      last_reached_ = static_cast<std::size_t>(found - positions_.begin());
    }
    positions_[last_reached_].offset = next;  // lower than before where the client had to begin anew
  }

  void give_back(bool lost) {
    const auto kind = lost ? Rebalance::Kind::kLost : Rebalance::Kind::kRevoked;
    for (PlainOffset& one : positions_) one.offset = kNoOffset;
    if (on_rebalance_) on_rebalance_({kind, positions_});
    positions_.clear();
  }

  static LibrdkafkaGroupConsumer& self_of(void* opaque) {
    return *static_cast<LibrdkafkaGroupConsumer*>(context_of(opaque).client);
  }

  static void rebalanced(rd_kafka_t* client, rd_kafka_resp_err_t event, rd_kafka_topic_partition_list_t* list,
                         void* opaque) {
    auto& self = self_of(opaque);
    if (event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      self.positions_ = offsets_of(*list);
      const PartitionList none(rd_kafka_topic_partition_list_new(0));
      rd_kafka_assign(client, self.by_hand_ ? none.get() : list);
      if (self.on_rebalance_) self.on_rebalance_({Rebalance::Kind::kAssigned, self.positions_});
      return;
    }
    self.give_back(event != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS || rd_kafka_assignment_lost(client) != 0);
    rd_kafka_assign(client, nullptr);
  }

  RebalanceCallback on_rebalance_;
  ClientContext context_;
  std::vector<PlainOffset> positions_;
  std::size_t last_reached_ = 0;  // place in positions_
  bool member_ = false;
  bool by_hand_ = false;
  bool closed_ = false;
  ConsumerHandle handle_;
  Prefetch prefetch_;
};

}  // namespace

Result<std::unique_ptr<GroupConsumer>> GroupConsumer::join(const Connection& connection,
                                                           const GroupConsumerSettings& settings,
                                                           RebalanceCallback on_rebalance) {
  if (auto good = check(connection); !good) return good.error();
  if (settings.group_id.empty()) return Error{ErrorClass::kInvalid, 0, "the group id is empty"};
  if (settings.topics.empty()) return Error{ErrorClass::kInvalid, 0, "a member of a group needs a topic to read"};
  auto made = std::make_unique<LibrdkafkaGroupConsumer>(std::move(on_rebalance));
  if (auto joined = made->join_group(connection, settings); !joined) return joined.error();
  return std::unique_ptr<GroupConsumer>(std::move(made));
}

Result<std::unique_ptr<GroupConsumer>> GroupConsumer::open(const Connection& connection, Isolation isolation) {
  if (auto good = check(connection); !good) return good.error();
  auto made = std::make_unique<LibrdkafkaGroupConsumer>(RebalanceCallback());
  if (auto opened = made->open_alone(connection, isolation); !opened) return opened.error();
  return std::unique_ptr<GroupConsumer>(std::move(made));
}

}  // namespace reseq::kafka
