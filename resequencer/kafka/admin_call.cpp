#include "kafka/admin_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string_view>

#include "kafka/error_questions.h"
#include "kafka/errors.h"
#include "kafka/foreign_port.h"
#include "kafka/http_question.h"
#include "kafka/tls_trouble.h"

namespace reseq::kafka {

namespace {

// The answer has to travel, too: the request gives up before the wait for it does.
constexpr Milliseconds kAnswerSlack{200};
// How often errors are looked for while nobody answers.
constexpr Milliseconds kErrorsEvery{250};

// Decides as OpenSSL does; it is here to know why a certificate was refused, which librdkafka does not tell.
int note_certificate_error(rd_kafka_t*, const char*, std::int32_t, int* x509_error, int, const char*, std::size_t,
                           char* text, std::size_t text_size, void* opaque) {
  if (*x509_error == 0) return 1;
  context_of(opaque).certificate_error = *x509_error;
  (void)std::snprintf(text, text_size, "X509 error %d", *x509_error);
  return 0;
}

// How long a state lasted, and how often the same was told before, says nothing to a person.
void cut_asides(std::string& told) {
  const std::size_t asides = told.rfind(" (after ");
  if (asides != std::string::npos && told.back() == ')') told.resize(asides);
}

// Whether a port that is silent may be asked what it is, which takes seconds.
enum class Ask : bool { kNobody, kPort };
// Of a question to the brokers. What librdkafka calls a broken transport is, without a trouble of the client's, that no
// connection was ready to be asked on: a broker that hangs takes connections and says nothing.
Error unanswered(rd_kafka_resp_err_t code, const std::string& what) {
  if (code != RD_KAFKA_RESP_ERR__TRANSPORT && code != RD_KAFKA_RESP_ERR__TIMED_OUT) return error_of(code, what);
  return {triage(code), code, what + ": nothing came back in time"};
}

// The trouble of a client, with the fix if it is one of TLS, or of a port.
Error explained(const ClientContext& context, Ask ask) {
  Error error = *context.trouble;
  cut_asides(error.message);
  if (auto foreign = foreign_port(error.message)) {
    if (!foreign->sure && ask == Ask::kPort && answers_http(address_in(error.message))) foreign = http_port();
    if (foreign->sure) error.what_to_do = ErrorClass::kInvalid;
    // What librdkafka takes for the reason is none.
    error.message = error.message.substr(0, error.message.find(": ")) + ": " + foreign->trouble;
    return error;
  }
  // What librdkafka says of a certificate is always the same, and mostly not the reason.
  const std::size_t guess = error.message.find(": SSL handshake failed");
  const int verdict = context.certificate_error;
  if (verdict != 0 && guess != std::string::npos) error.message.resize(guess);
  if (const auto trouble = tls_trouble(error.message, verdict)) {
    error.what_to_do = ErrorClass::kInvalid;
    error.code = RD_KAFKA_RESP_ERR__SSL;
    error.message += ": " + *trouble;
  } else if (is_tls_trouble(error)) {
    error.message += ": correct security.protocol and ssl.* in [kafka], or the port in bootstrap.servers";
  }
  return error;
}

// One of several may be the wrong port, and another one a Kafka.
bool is_foreign(const std::optional<Error>& trouble) {
  if (!trouble) return false;
  const auto foreign = foreign_port(trouble->message);
  return foreign && foreign->sure;
}

}  // namespace

Result<ConsumerHandle> make_admin_client(const Connection& connection, ClientContext& context) {
  ClientConf conf(connection, context);
  conf.set("isolation.level", "read_committed");
  rd_kafka_conf_set_error_cb(conf.get(), [](rd_kafka_t*, int code, const char* reason, void* opaque) {
    ClientContext& met = context_of(opaque);
    std::optional<Error>& trouble = met.trouble;
    const Error error{triage(static_cast<rd_kafka_resp_err_t>(code)), code, reason};
    // That all brokers are down says less than why the last one was.
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) met.all_down = true;
    if (!trouble || (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !is_foreign(trouble))) trouble = error;
  });
  (void)rd_kafka_conf_set_ssl_cert_verify_cb(conf.get(), note_certificate_error);  // refused without TLS: then no need
  return conf.make_consumer();
}

AdminCall::AdminCall(rd_kafka_t& client, rd_kafka_admin_op_t operation, Milliseconds limit)
    : options_(rd_kafka_AdminOptions_new(&client, operation)), queue_(rd_kafka_queue_new(&client)), limit_(limit) {
  std::array<char, 256> text{};
  (void)rd_kafka_AdminOptions_set_request_timeout(options_.get(), std::max(1, timeout_ms(limit)), text.data(),
                                                  text.size());
}

Result<EventHandle> AdminCall::wait(const std::string& what) const {
  EventHandle event(rd_kafka_queue_poll(queue_.get(), timeout_ms(Milliseconds(limit_.value() + kAnswerSlack.value()))));
  if (!event) return error_of(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
  if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* text = rd_kafka_event_error_string(event.get());
    return error_of(code, what + (text != nullptr ? std::string(": ") + text : ""));
  }
  return event;
}

Result<std::string> ask_cluster_id(rd_kafka_t& client, ClientContext& context, Milliseconds limit) {
  context.trouble.reset();
  context.all_down = false;
  for (std::int64_t left = limit.value(); left > 0; left -= kErrorsEvery.value()) {
    if (char* id = rd_kafka_clusterid(&client, timeout_ms(kErrorsEvery)); id != nullptr) {
      std::string text(id);
      rd_kafka_mem_free(&client, id);
      return text;
    }
    (void)rd_kafka_poll(&client, 0);  // calls the error callback
    if (!context.trouble || (is_foreign(context.trouble) && !context.all_down)) continue;
    if (Error error = explained(context, Ask::kNobody); error.what_to_do == ErrorClass::kInvalid) return error;
  }
  return why_unreachable(client, context, unanswered(RD_KAFKA_RESP_ERR__TIMED_OUT, "cluster id"));
}

Error why_unreachable(rd_kafka_t& client, ClientContext& context, const Error& error) {
  if (!passes_by_itself(error)) return error;
  (void)rd_kafka_poll(&client, 0);
  return context.trouble ? explained(context, Ask::kPort) : error;
}

namespace {

// Brokers of the cluster: one that is down is still named by the partitions that have a replica there.
std::int32_t brokers_of(const rd_kafka_metadata_t& metadata) {
  std::set<std::int32_t> ids;
  for (int i = 0; i < metadata.broker_cnt; ++i) ids.insert(metadata.brokers[i].id);
  for (int i = 0; i < metadata.topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& topic = metadata.topics[i];
    for (int p = 0; p < topic.partition_cnt; ++p)
      ids.insert(topic.partitions[p].replicas, topic.partitions[p].replicas + topic.partitions[p].replica_cnt);
  }
  return static_cast<std::int32_t>(ids.size());
}

// The facts that are no configuration.
Result<TopicFacts> ask_places(rd_kafka_t& client, const std::string& topic, Milliseconds limit) {
  const std::string what = "metadata of topic " + topic;
  const TopicHandle handle(rd_kafka_topic_new(&client, topic.c_str(), nullptr));
  if (!handle) return error_of(rd_kafka_last_error(), what);
  const rd_kafka_metadata_t* answer = nullptr;
  const auto code = rd_kafka_metadata(&client, 0, handle.get(), &answer, timeout_ms(limit));
  const MetadataHandle metadata(answer);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return unanswered(code, what);
  if (metadata->topic_cnt != 1) return error_of(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, what);
  const rd_kafka_metadata_topic_t& found = metadata->topics[0];
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(found.err, what);
  TopicFacts facts{.partitions = found.partition_cnt, .replicas = INT32_MAX, .brokers = brokers_of(*metadata)};
  for (int i = 0; i < found.partition_cnt; ++i) {
    if (found.partitions[i].leader < 0) return error_of(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, what);
    facts.replicas = std::min(facts.replicas, found.partitions[i].replica_cnt);
  }
  return facts;
}

}  // namespace

Result<std::int32_t> ask_partition_count(rd_kafka_t& client, const std::string& topic, Milliseconds limit) {
  const auto places = ask_places(client, topic, limit);
  return places ? Result<std::int32_t>(places.value().partitions) : places.error();
}

namespace {

enum class Topics : bool { kNone, kAll };
Result<MetadataHandle> ask_brokers(rd_kafka_t& client, Topics topics, Milliseconds limit) {
  const rd_kafka_metadata_t* answer = nullptr;
  const auto code = rd_kafka_metadata(&client, topics == Topics::kAll ? 1 : 0, nullptr, &answer, timeout_ms(limit));
  MetadataHandle metadata(answer);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return unanswered(code, "metadata of the brokers");
  return metadata;
}

}  // namespace

Result<std::string> ask_broker_addresses(rd_kafka_t& client, Milliseconds limit) {
  const auto metadata = ask_brokers(client, Topics::kNone, limit);
  if (!metadata) return metadata.error();
  std::string addresses;
  for (int i = 0; i < metadata.value()->broker_cnt; ++i) {
    const rd_kafka_metadata_broker_t& broker = metadata.value()->brokers[i];
    const std::string host = broker.host;
    const bool is_ipv6 = host.find(':') != std::string::npos;
    addresses +=
        (addresses.empty() ? "" : ",") + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(broker.port);
  }
  return addresses;
}

Result<std::int32_t> ask_broker_count(rd_kafka_t& client, Milliseconds limit) {
  const auto metadata = ask_brokers(client, Topics::kAll, limit);
  if (!metadata) return metadata.error();
  return brokers_of(*metadata.value());
}

namespace {

void read_number(std::string_view text, auto& number) {
  std::from_chars(text.data(), text.data() + text.size(), number);
}

// Into `facts`, whose partitions and replicas are known already.
Result<TopicFacts> parse(const rd_kafka_ConfigResource_t& resource, const std::string& what, TopicFacts facts) {
  if (const auto code = rd_kafka_ConfigResource_error(&resource); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return error_of(code, what);
  std::size_t count = 0;
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(&resource, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = rd_kafka_ConfigEntry_name(entries[i]);
    const char* text = rd_kafka_ConfigEntry_value(entries[i]);
    const std::string_view value = text == nullptr ? std::string_view() : std::string_view(text);
    if (name == "max.message.bytes") read_number(value, facts.max_message_bytes);
    if (name == "delete.retention.ms") read_number(value, facts.delete_retention_ms);
    if (name == "retention.ms") read_number(value, facts.retention_ms);
    if (name == "segment.ms") read_number(value, facts.segment_ms);
    if (name == "min.insync.replicas") read_number(value, facts.min_insync_replicas);
    if (name == "unclean.leader.election.enable") facts.unclean_election = value == "true";
    if (name == "cleanup.policy") {
      facts.compacts = value.find("compact") != std::string_view::npos;
      facts.deletes = value.find("delete") != std::string_view::npos;
    }
  }
  if (facts.max_message_bytes == 0)
    return Error{ErrorClass::kInvalid, 0, what + ": the broker does not tell max.message.bytes"};
  return facts;
}

}  // namespace

Result<TopicFacts> ask_topic_facts(rd_kafka_t& client, const std::string& topic, Milliseconds limit) {
  const auto places = ask_places(client, topic, limit);
  if (!places) return places.error();
  const std::string what = "configuration of topic " + topic;
  const ConfigResourceHandle resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  const AdminCall call(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, limit);
  rd_kafka_ConfigResource_t* asked = resource.get();
  rd_kafka_DescribeConfigs(&client, &asked, 1, call.options(), call.queue());
  const auto event = call.wait(what);
  if (!event) return event.error();
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** resources =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.value().get()), &count);
  if (count != 1) return error_of(RD_KAFKA_RESP_ERR__PARTIAL, what);
  return parse(*resources[0], what, places.value());
}

}  // namespace reseq::kafka
