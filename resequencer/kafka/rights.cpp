#include "kafka/rights.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "kafka/admin_call.h"
#include "kafka/client_conf.h"
#include "kafka/error_questions.h"
#include "kafka/errors.h"
#include "kafka/handles.h"

namespace reseq::kafka {

namespace {

using Clock = std::chrono::steady_clock;

// No broker knows more than "all replicas" (-1), none and one; it looks at the ACL first.
constexpr const char* kAcksThatAreRefused = "2";
// Below any group.min.session.timeout.ms, and above any transaction.max.timeout.ms.
constexpr const char* kSessionThatIsRefused = "1";
constexpr const char* kTransactionThatIsRefused = "2000000000";
constexpr Milliseconds kSlice{20};

class Deadline {
 public:
  explicit Deadline(Milliseconds limit) : until_(Clock::now() + std::chrono::milliseconds(limit.value())) {}
  [[nodiscard]] bool over() const { return Clock::now() >= until_; }

 private:
  Clock::time_point until_;
};

void grant(RightAnswer& answer) {
  answer.granted = Granted::kYes;
}
void refuse(RightAnswer& answer) {
  answer.granted = Granted::kNo;
}
// What the broker answered when it was asked with `refused`: the error that comes after the ACL was looked at.
void settle(RightAnswer& answer, rd_kafka_resp_err_t code, rd_kafka_resp_err_t refused) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == refused) return grant(answer);
  const Error error = error_of(code, answer.right.name);
  if (is_forbidden(error)) return refuse(answer);
  answer.why = error.message;
}

// Nobody can be asked.
void give_up(const std::vector<RightAnswer*>& answers, const Error& error) {
  for (RightAnswer* answer : answers)
    if (answer->granted == Granted::kUnknown) answer->why = error.message;
}

bool any_open(const std::vector<RightAnswer*>& answers) {
  return std::any_of(answers.begin(), answers.end(), [](const auto* one) { return one->granted == Granted::kUnknown; });
}

// Topics that are not known to this user: neither Read nor Write, which would let it see them.
void ask_sight(rd_kafka_t& client, const std::vector<RightAnswer*>& answers, Milliseconds limit) {
  std::map<std::string, Result<std::int32_t>> seen;
  for (RightAnswer* answer : answers) {
    auto known = seen.find(answer->right.name);
    if (known == seen.end())
      known = seen.emplace(answer->right.name, ask_partition_count(client, answer->right.name, limit)).first;
    const auto& count = known->second;
    if (count) continue;
    if (is_forbidden(count.error())) {
      refuse(*answer);
    } else {
      answer->why = count.error().message;
    }
  }
}

// Fetches at the end of partition 0: what arrives, or that there is nothing, or the refusal.
void ask_reads(const Connection& connection, const std::vector<RightAnswer*>& answers, Milliseconds limit) {
  if (!any_open(answers)) return;
  ClientContext context;
  ClientConf conf(connection, context);
  conf.set("enable.partition.eof", "true").set("fetch.wait.max.ms", kSlice);
  auto client = conf.make_consumer();
  if (!client) return give_up(answers, client.error());
  rd_kafka_t& reader = *client.value();
  const QueueHandle queue(rd_kafka_queue_new(&reader));
  std::vector<TopicHandle> topics;
  std::vector<RightAnswer*> asked;
  for (RightAnswer* answer : answers) {
    if (answer->granted != Granted::kUnknown) continue;
    topics.emplace_back(rd_kafka_topic_new(&reader, answer->right.name.c_str(), nullptr));
    if (rd_kafka_consume_start_queue(topics.back().get(), 0, RD_KAFKA_OFFSET_END, queue.get()) == 0)
      asked.push_back(answer);
    else
      answer->why = error_of(rd_kafka_last_error(), answer->right.name).message;
  }
  for (const Deadline deadline(limit); any_open(asked) && !deadline.over();) {
    const MessageHandle message(rd_kafka_consume_queue(queue.get(), timeout_ms(kSlice)));
    if (!message || message->rkt == nullptr) continue;
    const std::string topic = rd_kafka_topic_name(message->rkt);
    for (RightAnswer* answer : asked)
      if (answer->right.name == topic) settle(*answer, message->err, RD_KAFKA_RESP_ERR__PARTITION_EOF);
  }
  for (const TopicHandle& topic : topics) rd_kafka_consume_stop(topic.get(), 0);
}

void ask_configs(rd_kafka_t& client, const std::vector<RightAnswer*>& answers, Milliseconds limit) {
  if (answers.empty()) return;
  std::vector<ConfigResourceHandle> owners;
  std::vector<rd_kafka_ConfigResource_t*> resources;
  for (const RightAnswer* answer : answers)
    resources.push_back(
        owners.emplace_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, answer->right.name.c_str())).get());
  const AdminCall call(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, limit);
  rd_kafka_DescribeConfigs(&client, resources.data(), resources.size(), call.options(), call.queue());
  const auto event = call.wait("configuration of topics");
  if (!event) {
    for (RightAnswer* answer : answers) answer->why = event.error().message;
    return;
  }
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** told =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.value().get()), &count);
  for (std::size_t i = 0; i < count; ++i)
    for (RightAnswer* answer : answers)
      if (answer->right.name == rd_kafka_ConfigResource_name(told[i]))
        settle(*answer, rd_kafka_ConfigResource_error(told[i]), RD_KAFKA_RESP_ERR_NO_ERROR);
}

// An empty record to partition 0 of each, with acks that every broker refuses.
void ask_writes(const Connection& connection, const std::vector<RightAnswer*>& answers, Milliseconds limit) {
  if (!any_open(answers)) return;
  ClientContext context;
  ClientConf conf(connection, context);
  conf.set("acks", kAcksThatAreRefused).set("linger.ms", Milliseconds(0)).set("message.timeout.ms", limit);
  rd_kafka_conf_set_dr_msg_cb(conf.get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    settle(*static_cast<RightAnswer*>(message->_private), message->err, RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS);
  });
  auto client = conf.make_producer();
  if (!client) return give_up(answers, client.error());
  rd_kafka_t& writer = *client.value();
  std::vector<TopicHandle> topics;
  for (RightAnswer* answer : answers) {
    if (answer->granted != Granted::kUnknown) continue;
    topics.emplace_back(rd_kafka_topic_new(&writer, answer->right.name.c_str(), nullptr));
    if (rd_kafka_produce(topics.back().get(), 0, RD_KAFKA_MSG_F_COPY, nullptr, 0, nullptr, 0, answer) != 0)
      answer->why = error_of(rd_kafka_last_error(), answer->right.name).message;
  }
  (void)rd_kafka_flush(&writer, timeout_ms(limit));
}

// Wants to join with a session that is too short for any broker; `topic` is one that this user sees.
void ask_group(const Connection& connection, RightAnswer& answer, const std::string& topic, Milliseconds limit) {
  ClientContext context;
  ClientConf conf(connection, context);
  conf.set("group.id", answer.right.name).set("session.timeout.ms", kSessionThatIsRefused);
  conf.set("heartbeat.interval.ms", "1").set_if_known("group.protocol", "classic");
  auto client = conf.make_consumer();
  if (!client) return give_up({&answer}, client.error());
  rd_kafka_t& member = *client.value();
  rd_kafka_poll_set_consumer(&member);
  const PartitionList topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  (void)rd_kafka_subscribe(&member, topics.get());
  for (const Deadline deadline(limit); answer.granted == Granted::kUnknown && !deadline.over();) {
    const MessageHandle message(rd_kafka_consumer_poll(&member, timeout_ms(kSlice)));
    if (message && message->rkt == nullptr) settle(answer, message->err, RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT);
  }
}

// Wants a producer id for transactions that are longer than any broker allows.
void ask_transactional_id(const Connection& connection, RightAnswer& answer, Milliseconds limit) {
  ClientContext context;
  ClientConf conf(connection, context);
  conf.set("transactional.id", answer.right.name).set("transaction.timeout.ms", kTransactionThatIsRefused);
  auto client = conf.make_producer();
  if (!client) return give_up({&answer}, client.error());
  const ErrorHandle error(rd_kafka_init_transactions(client.value().get(), timeout_ms(limit)));
  settle(answer, error ? rd_kafka_error_code(error.get()) : RD_KAFKA_RESP_ERR_NO_ERROR,
         RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT);
}

class Questions {
 public:
  explicit Questions(std::span<const Right> rights) {
    for (const Right& right : rights) answers_.push_back({.right = right});
  }

  Result<> ask(const Connection& connection, Milliseconds limit) {
    ClientContext context;
    auto client = make_admin_client(connection, context);
    if (!client) return client.error();
    const auto reads = of(Resource::kTopic, Operation::kRead);
    const auto writes = of(Resource::kTopic, Operation::kWrite);
    ask_sight(*client.value(), reads, limit);
    ask_sight(*client.value(), writes, limit);
    ask_configs(*client.value(), of(Resource::kTopic, Operation::kDescribeConfigs), limit);
    ask_reads(connection, reads, limit);
    ask_writes(connection, writes, limit);
    for (RightAnswer* answer : of(Resource::kTransactionalId, Operation::kWrite))
      ask_transactional_id(connection, *answer, limit);
    const std::string* topic = seen_topic();
    for (RightAnswer* answer : of(Resource::kGroup, Operation::kRead)) {
      answer->why = "it takes a topic that this user may read or write, and there is none";
      if (topic != nullptr) ask_group(connection, *answer, *topic, limit);
    }
    return Done{};
  }

  std::vector<RightAnswer> take() { return std::move(answers_); }

 private:
  std::vector<RightAnswer*> of(Resource resource, Operation operation) {
    std::vector<RightAnswer*> found;
    for (RightAnswer& answer : answers_)
      if (answer.right.resource == resource && answer.right.operation == operation) found.push_back(&answer);
    return found;
  }

  [[nodiscard]] const std::string* seen_topic() const {
    for (const RightAnswer& answer : answers_)
      if (answer.right.resource == Resource::kTopic && answer.right.operation != Operation::kDescribeConfigs &&
          answer.granted == Granted::kYes)
        return &answer.right.name;
    return nullptr;
  }

  std::vector<RightAnswer> answers_;
};

}  // namespace

Result<std::vector<RightAnswer>> ask_rights(const Connection& connection, std::span<const Right> rights,
                                            Milliseconds limit) {
  if (auto good = check(connection); !good) return good.error();
  if (rights.empty()) return std::vector<RightAnswer>{};
  Questions questions(rights);
  if (auto asked = questions.ask(connection, limit); !asked) return asked.error();
  return questions.take();
}

}  // namespace reseq::kafka
