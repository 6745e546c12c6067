// Questions to the brokers about topics and the cluster, each one blocking call with a time limit. They run on a
// consumer without a group, because a producer's metadata requests may create the topics they ask for.
// Thread rule: the thread of the client.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "kafka/client_conf.h"
#include "kafka/handles.h"
#include "kafka/settings.h"

namespace reseq::kafka {

[[nodiscard]] Result<ConsumerHandle> make_admin_client(const Connection& connection, ClientContext& context);

// The first thing to ask: an error says why no broker can be talked to. kInvalid at once when they refuse us (SASL,
// TLS), kRetriable when none is there. REQUIRES: client and context of make_admin_client.
[[nodiscard]] Result<std::string> ask_cluster_id(rd_kafka_t& client, ClientContext& context, Milliseconds limit);

// Of a question that nobody answered: why the brokers cannot be reached, if the client has met that. REQUIRES: client
// and context of make_admin_client.
[[nodiscard]] Error why_unreachable(rd_kafka_t& client, ClientContext& context, const Error& error);

// kInvalid: no such topic. kRetriable: some partition has no leader now.
[[nodiscard]] Result<std::int32_t> ask_partition_count(rd_kafka_t& client, const std::string& topic,
                                                       Milliseconds limit);

// Brokers that are there now.
[[nodiscard]] Result<std::string> ask_broker_addresses(rd_kafka_t& client, Milliseconds limit);
// All of them, also those that are down and have a replica of some topic.
[[nodiscard]] Result<std::int32_t> ask_broker_count(rd_kafka_t& client, Milliseconds limit);

// Partitions, replicas and configuration. Errors as above.
[[nodiscard]] Result<TopicFacts> ask_topic_facts(rd_kafka_t& client, const std::string& topic, Milliseconds limit);

// One request of the admin protocol: options, queue and the wait for its answer.
class AdminCall {
 public:
  AdminCall(rd_kafka_t& client, rd_kafka_admin_op_t operation, Milliseconds limit);
  [[nodiscard]] rd_kafka_AdminOptions_t* options() const { return options_.get(); }
  [[nodiscard]] rd_kafka_queue_t* queue() const { return queue_.get(); }
  // The answer, unless the request as a whole failed.
  [[nodiscard]] Result<EventHandle> wait(const std::string& what) const;

 private:
  AdminOptionsHandle options_;
  QueueHandle queue_;
  Milliseconds limit_;
};

}  // namespace reseq::kafka
