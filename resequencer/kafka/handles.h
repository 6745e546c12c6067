// Owners of librdkafka's objects. The only file that includes its header.
// Thread rule: plain owners; librdkafka's own rules apply.
#pragma once

#include <algorithm>
#include <librdkafka/rdkafka.h>
#include <limits>
#include <memory>

#include "model/ids.h"

namespace reseq::kafka {

template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};

// A consumer is destroyed without closing it: closing waits without limit for a partition that is gone.
// close_consumer() is the bounded way.
inline void destroy_consumer(rd_kafka_t* client) {
  rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

using ConsumerHandle = std::unique_ptr<rd_kafka_t, Destroy<destroy_consumer>>;
using ProducerHandle = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using ConfHandle = std::unique_ptr<rd_kafka_conf_t, Destroy<rd_kafka_conf_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;
using ErrorHandle = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_destroy>>;
using HeadersHandle = std::unique_ptr<rd_kafka_headers_t, Destroy<rd_kafka_headers_destroy>>;
using MessageHandle = std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_destroy>>;
using MetadataHandle = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;
using GroupMetadataHandle =
    std::unique_ptr<rd_kafka_consumer_group_metadata_t, Destroy<rd_kafka_consumer_group_metadata_destroy>>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using EventHandle = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using NewTopicHandle = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;
using DeleteTopicHandle = std::unique_ptr<rd_kafka_DeleteTopic_t, Destroy<rd_kafka_DeleteTopic_destroy>>;
using ConfigResourceHandle = std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;
using GroupListHandle = std::unique_ptr<const rd_kafka_group_list, Destroy<rd_kafka_group_list_destroy>>;
using AdminOptionsHandle = std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;

// A time limit as librdkafka wants it; never its "wait without limit".
[[nodiscard]] inline int timeout_ms(Milliseconds limit) {
  return static_cast<int>(std::clamp<std::int64_t>(limit.value(), 0, std::numeric_limits<int>::max()));
}

}  // namespace reseq::kafka
