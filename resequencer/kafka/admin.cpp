#include "kafka/admin.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "kafka/admin_call.h"
#include "kafka/client_conf.h"
#include "kafka/error_questions.h"
#include "kafka/errors.h"
#include "kafka/handles.h"
#include "kafka/partition_list.h"

namespace reseq::kafka {

namespace {

using Clock = std::chrono::steady_clock;

// Brokers that refuse a login say so within this time; whatever else keeps a client waiting may pass.
constexpr Milliseconds kRefusalLimit{5'000};

// What is left of a time limit that several calls share.
class Budget {
 public:
  explicit Budget(Milliseconds limit)
      : begin_(Clock::now()), until_(begin_ + std::chrono::milliseconds(limit.value())) {}
  [[nodiscard]] Milliseconds left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now());
    return Milliseconds(std::max<std::int64_t>(left.count(), 1));
  }
  [[nodiscard]] bool spent() const { return Clock::now() >= until_; }
  // The longer a thing takes, the more seldom it is asked for: a broker that is making 4500 partitions answers each
  // question about them with all of theirs.
  void pause() const {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_);
    std::this_thread::sleep_for(std::clamp(waited / 4, kShortestPause, kLongestPause));
  }

 private:
  static constexpr std::chrono::milliseconds kShortestPause{20};
  static constexpr std::chrono::milliseconds kLongestPause{500};

  Clock::time_point begin_;
  Clock::time_point until_;
};

bool may_pass(const Error& error) {
  return error.what_to_do == ErrorClass::kRetriable || error.what_to_do == ErrorClass::kTimeout;
}

// Asks again, as long as there is time, what may be answered then. A request that is not answered within
// socket.timeout.ms has failed, and a broker that has much to do may have done by then what was asked for.
template <typename Ask>
auto persist(const Budget& budget, const Ask& ask) {
  for (;;) {
    auto answer = ask();
    if (answer || !may_pass(answer.error()) || budget.spent()) return answer;
    budget.pause();
  }
}

Result<NewTopicHandle> new_topic(const TopicSpec& spec) {
  std::array<char, 512> text{};
  NewTopicHandle topic(
      rd_kafka_NewTopic_new(spec.name.c_str(), spec.partitions, spec.replication, text.data(), text.size()));
  if (!topic) return Error{ErrorClass::kInvalid, 0, "topic " + spec.name + ": " + text.data()};
  for (const auto& [name, value] : spec.configs) {
    const auto code = rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "topic " + spec.name + ", configuration " + name);
  }
  return topic;
}

// `fine`: what may have happened already.
Result<> check_topics(const rd_kafka_topic_result_t** results, std::size_t count, rd_kafka_resp_err_t fine,
                      const std::string& what) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = rd_kafka_topic_result_error(results[i]);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == fine) continue;
    const char* text = rd_kafka_topic_result_error_string(results[i]);
    return error_of(
        code, what + " " + rd_kafka_topic_result_name(results[i]) + (text != nullptr ? std::string(": ") + text : ""));
  }
  return Done{};
}

class LibrdkafkaAdmin final : public Admin {
 public:
  Result<> start(const Connection& connection) {
    auto client = make_admin_client(connection, context_);
    if (!client) return client.error();
    handle_ = std::move(client).value();
    connection_ = connection;
    return Done{};
  }

  Result<> create_topics(std::span<const TopicSpec> topics, Milliseconds limit) override {
    if (topics.empty()) return Done{};
    const Budget budget(limit);
    std::vector<NewTopicHandle> handles;
    std::vector<rd_kafka_NewTopic_t*> asked;
    for (const TopicSpec& spec : topics) {
      auto topic = new_topic(spec);
      if (!topic) return topic.error();
      asked.push_back(handles.emplace_back(std::move(topic).value()).get());
    }
    int times = 0;
    const auto event = persist(budget, [&] {
      ++times;
      const AdminCall call(*handle_, RD_KAFKA_ADMIN_OP_CREATETOPICS, budget.left());
      rd_kafka_CreateTopics(handle_.get(), asked.data(), asked.size(), call.options(), call.queue());
      return call.wait("create topics");
    });
    if (!event) return event.error();
    std::size_t count = 0;
    const auto** results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.value().get()), &count);
    auto created = check_topics(results, count, RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, "create topic");
    if (!created) return created;
    for (const TopicSpec& spec : topics)
      if (auto known = wait_until_known(spec, budget); !known) return known;
    for (std::size_t i = 0; i < count; ++i)
      if (times > 1 || rd_kafka_topic_result_error(results[i]) == RD_KAFKA_RESP_ERR_NO_ERROR)
        if (auto led = wait_until_led(rd_kafka_topic_result_name(results[i]), budget); !led) return led;
    return Done{};
  }

  Result<> delete_topics(std::span<const std::string> names, Milliseconds limit) override {
    if (names.empty()) return Done{};
    const Budget budget(limit);
    std::vector<DeleteTopicHandle> handles;
    std::vector<rd_kafka_DeleteTopic_t*> asked;
    for (const std::string& name : names)
      asked.push_back(handles.emplace_back(rd_kafka_DeleteTopic_new(name.c_str())).get());
    const auto event = persist(budget, [&] {
      const AdminCall call(*handle_, RD_KAFKA_ADMIN_OP_DELETETOPICS, budget.left());
      rd_kafka_DeleteTopics(handle_.get(), asked.data(), asked.size(), call.options(), call.queue());
      return call.wait("delete topics");
    });
    if (!event) return event.error();
    std::size_t count = 0;
    const auto** results =
        rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event.value().get()), &count);
    auto deleted = check_topics(results, count, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "delete topic");
    if (!deleted) return deleted;
    for (const std::string& name : names)
      if (auto gone = wait_until_gone(name, budget); !gone) return gone;
    return Done{};
  }

  Result<std::int32_t> partition_count(const std::string& topic, Milliseconds limit) override {
    const Budget budget(limit);
    if (auto let_in = come_in(budget); !let_in) return let_in.error();
    auto count = ask_partition_count(*handle_, topic, budget.left());
    return count ? std::move(count) : why_unreachable(*handle_, context_, count.error());
  }

  Result<std::string> broker_addresses(Milliseconds limit) override {
    const Budget budget(limit);
    if (auto let_in = come_in(budget); !let_in) return let_in.error();
    auto addresses = ask_broker_addresses(*handle_, budget.left());
    return addresses ? std::move(addresses) : why_unreachable(*handle_, context_, addresses.error());
  }

  Result<std::int32_t> broker_count(Milliseconds limit) override { return ask_broker_count(*handle_, limit); }

  Result<TopicFacts> topic_facts(const std::string& topic, Milliseconds limit) override {
    const Budget budget(limit);
    if (auto let_in = come_in(budget); !let_in) return let_in.error();
    return ask_topic_facts(*handle_, topic, budget.left());
  }

  Result<std::vector<PlainOffset>> begins(const std::string& topic, Milliseconds limit) override {
    return ask(topic, LogSide::kBegin, limit);
  }
  Result<std::vector<PlainOffset>> stable_ends(const std::string& topic, Milliseconds limit) override {
    return ask(topic, LogSide::kEnd, limit);
  }

  Result<std::vector<PlainOffset>> committed(const std::string& group_id, const std::string& topic,
                                             Milliseconds limit) override {
    const Budget budget(limit);
    auto places = partitions(topic, budget.left());
    if (!places) return places;
    return persist(budget, [&] { return ask_committed(group_id, places.value(), budget.left()); });
  }

  Result<std::size_t> members(const std::string& group_id, Milliseconds limit) override {
    const std::string what = "members of group " + group_id;
    const rd_kafka_group_list* list = nullptr;
    const auto code = rd_kafka_list_groups(handle_.get(), group_id.c_str(), &list, timeout_ms(limit));
    const GroupListHandle owner(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, what);
    if (list->group_cnt == 0) return 0;
    const rd_kafka_group_info& group = list->groups[0];
    if (group.err != RD_KAFKA_RESP_ERR_NO_ERROR && group.err != RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND)
      return error_of(group.err, what);
    return static_cast<std::size_t>(group.member_cnt);
  }

  Result<std::int64_t> lag(const std::string& group_id, const std::string& topic, Milliseconds limit) override {
    const Budget budget(limit);
    const auto ends = stable_ends(topic, budget.left());
    if (!ends) return ends.error();
    const auto first = begins(topic, budget.left());
    if (!first) return first.error();
    const auto done = committed(group_id, topic, budget.left());
    if (!done) return done.error();
    std::int64_t lag = 0;
    for (std::size_t i = 0; i < ends.value().size(); ++i) {
      const Offset from = std::max(done.value()[i].offset, first.value()[i].offset);
      lag += std::max<std::int64_t>(0, ends.value()[i].offset.value() - from.value());
    }
    return lag;
  }

 private:
  Result<> wait_until_known(const TopicSpec& spec, const Budget& budget) {
    for (;;) {
      const auto count = ask_partition_count(*handle_, spec.name, budget.left());
      if (count && count.value() == spec.partitions) return Done{};
      if (count)
        return Error{ErrorClass::kInvalid, 0,
                     "topic " + spec.name + " exists with " + std::to_string(count.value()) +
                         " partitions instead of " + std::to_string(spec.partitions)};
      if ((!may_pass(count.error()) && !is_unknown_topic(count.error())) || budget.spent()) return count.error();
      budget.pause();
    }
  }

  // A broker tells of a partition before it leads it. Who writes just then may lose a record (PlainProducer).
  Result<> wait_until_led(const std::string& name, const Budget& budget) {
    for (;;) {
      const auto ends = stable_ends(name, budget.left());
      if (ends) return Done{};
      if ((!may_pass(ends.error()) && !is_unknown_topic(ends.error())) || budget.spent()) return ends.error();
      budget.pause();
    }
  }

  Result<> wait_until_gone(const std::string& name, const Budget& budget) {
    for (;;) {
      const auto count = ask_partition_count(*handle_, name, budget.left());
      if (!count && is_unknown_topic(count.error())) return Done{};
      if (!count && !may_pass(count.error())) return count.error();
      if (budget.spent()) return error_of(RD_KAFKA_RESP_ERR__TIMED_OUT, "delete topic " + name);
      budget.pause();
    }
  }

  // Who is refused is told so at once, and why: a question that nobody answers only says how long it has waited.
  Result<> come_in(const Budget& budget) {
    if (is_in_) return Done{};
    const auto id = ask_cluster_id(*handle_, context_, std::min(budget.left(), kRefusalLimit));
    is_in_ = id.ok();
    if (!id && id.error().what_to_do == ErrorClass::kInvalid) return id.error();
    return Done{};
  }

  Result<std::vector<PlainOffset>> partitions(const std::string& topic, Milliseconds limit) {
    const Budget budget(limit);
    if (auto let_in = come_in(budget); !let_in) return let_in.error();
    const auto count = ask_partition_count(*handle_, topic, budget.left());
    if (!count) return count.error();
    std::vector<PlainOffset> places;
    for (std::int32_t p = 0; p < count.value(); ++p) places.push_back({topic, Partition(p), kNoOffset});
    return places;
  }

  Result<std::vector<PlainOffset>> ask(const std::string& topic, LogSide side, Milliseconds limit) {
    const Budget budget(limit);
    const auto places = partitions(topic, budget.left());
    if (!places) return places.error();
    const PartitionList list = list_of(places.value());
    if (auto asked = ask_offsets(*handle_, *list, side, budget.left()); !asked) return asked.error();
    return offsets_of(*list);
  }

  // Asked by a consumer of that group that never joins it. The admin protocol's own request aborts the process when its
  // answer comes after the limit (librdkafka issue 4605).
  Result<std::vector<PlainOffset>> ask_committed(const std::string& group_id, const std::vector<PlainOffset>& places,
                                                 Milliseconds limit) {
    const std::string what = "committed offsets of group " + group_id;
    auto observer = observer_of(group_id);
    if (!observer) return observer.error();
    const PartitionList list = list_of(places);
    const auto code = rd_kafka_committed(observer.value(), list.get(), timeout_ms(limit));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, what);
    if (auto good = check_each(*list, what); !good) return good.error();
    return offsets_of(*list);
  }

  Result<rd_kafka_t*> observer_of(const std::string& group_id) {
    if (const auto known = observers_.find(group_id); known != observers_.end()) return known->second.get();
    ClientConf conf(connection_, context_);
    conf.set("group.id", group_id).set("isolation.level", "read_committed");
    auto client = conf.make_consumer();
    if (!client) return client.error();
    return observers_.emplace(group_id, std::move(client).value()).first->second.get();
  }

  Connection connection_;
  ClientContext context_;
  ConsumerHandle handle_;
  bool is_in_ = false;                               // a broker has answered
  std::map<std::string, ConsumerHandle> observers_;  // by group
};

}  // namespace

Result<std::unique_ptr<Admin>> Admin::open(const Connection& connection) {
  if (auto good = check(connection); !good) return good.error();
  auto made = std::make_unique<LibrdkafkaAdmin>();
  if (auto started = made->start(connection); !started) return started.error();
  return std::unique_ptr<Admin>(std::move(made));
}

}  // namespace reseq::kafka
