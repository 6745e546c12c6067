#include "kafka/admin_call.h"

#include <array>
#include <charconv>
#include <string_view>

#include "kafka/errors.h"

namespace reseq::kafka {

namespace {

// The answer has to travel, too: the request gives up before the wait for it does.
constexpr Milliseconds kAnswerSlack{200};

}  // namespace

Result<ConsumerHandle> make_admin_client(const Connection& connection, ClientContext& context) {
  ClientConf conf(connection, context);
  conf.set("isolation.level", "read_committed");
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

Result<std::string> ask_cluster_id(rd_kafka_t& client, Milliseconds limit) {
  char* id = rd_kafka_clusterid(&client, timeout_ms(limit));
  if (id == nullptr) return error_of(RD_KAFKA_RESP_ERR__TIMED_OUT, "cluster id");
  std::string text(id);
  rd_kafka_mem_free(&client, id);
  return text;
}

Result<std::int32_t> ask_partition_count(rd_kafka_t& client, const std::string& topic, Milliseconds limit) {
  const std::string what = "metadata of topic " + topic;
  const TopicHandle handle(rd_kafka_topic_new(&client, topic.c_str(), nullptr));
  if (!handle) return error_of(rd_kafka_last_error(), what);
  const rd_kafka_metadata_t* answer = nullptr;
  const auto code = rd_kafka_metadata(&client, 0, handle.get(), &answer, timeout_ms(limit));
  const MetadataHandle metadata(answer);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, what);
  if (metadata->topic_cnt != 1) return error_of(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, what);
  const rd_kafka_metadata_topic_t& found = metadata->topics[0];
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(found.err, what);
  for (int i = 0; i < found.partition_cnt; ++i)
    if (found.partitions[i].leader < 0) return error_of(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, what);
  return found.partition_cnt;
}

namespace {

Result<TopicConfig> parse(const rd_kafka_ConfigResource_t& resource, const std::string& what) {
  if (const auto code = rd_kafka_ConfigResource_error(&resource); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return error_of(code, what);
  std::size_t count = 0;
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(&resource, &count);
  TopicConfig config;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = rd_kafka_ConfigEntry_name(entries[i]);
    const char* text = rd_kafka_ConfigEntry_value(entries[i]);
    const std::string_view value = text == nullptr ? std::string_view() : std::string_view(text);
    if (name == "max.message.bytes")
      std::from_chars(value.data(), value.data() + value.size(), config.max_message_bytes);
    if (name == "delete.retention.ms")
      std::from_chars(value.data(), value.data() + value.size(), config.delete_retention_ms);
    if (name == "cleanup.policy") config.compacted = value == "compact";
  }
  if (config.max_message_bytes == 0)
    return Error{ErrorClass::kInvalid, 0, what + ": the broker does not tell max.message.bytes"};
  return config;
}

}  // namespace

Result<TopicConfig> ask_topic_config(rd_kafka_t& client, const std::string& topic, Milliseconds limit) {
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
  return parse(*resources[0], what);
}

}  // namespace reseq::kafka
