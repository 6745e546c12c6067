// TopicSink: tagged records to a topic by an idempotent producer that partitions as the application is configured, so
// that a record is where the resequencer looks for its document. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kafka/settings.h"
#include "producers/tagging/request_sink.h"

namespace reseq::topic {

struct TopicSinkOptions {
  std::string bootstrap_servers;
  std::string topic;
  std::map<std::string, std::string> properties{};  // passed to librdkafka
  std::string partitioner = "murmur2";              // or crc32: as the application is configured
  std::optional<std::uint64_t> record_bytes_max{};  // the largest record that will be produced
};

[[nodiscard]] kafka::Connection connection_of(const TopicSinkOptions& options);

// Waits until the topic was found. kInvalid: a property that must not be passed through, or no such topic.
[[nodiscard]] Result<std::unique_ptr<tagging::RequestSink>> open_topic_sink(const TopicSinkOptions& options);

}  // namespace reseq::topic
