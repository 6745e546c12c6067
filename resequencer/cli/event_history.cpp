#include "cli/event_history.h"

#include <utility>

#include "cli/log_reading.h"
#include "codec/hash.h"

namespace reseq::cli {

namespace {

// Outputs are written by Java's partitioner unless inputs are by librdkafka's (runtime/clients.cpp).
Partition partition_of(const std::string& id, Partitioner inputs, std::int32_t partitions) {
  const bool crc32 = inputs == Partitioner::kCrc32;
  return codec::partition_of(id, crc32 ? Partitioner::kCrc32 : Partitioner::kMurmur2, partitions);
}

}  // namespace

Result<std::vector<PastEvent>> read_events_of(const runtime::Application& application, const std::string& id) {
  auto log = LogReading::open(application, application.settings.topic_events);
  if (!log) return log.error();
  std::vector<PastEvent> found;
  const Partition partition = partition_of(id, application.partitioner, log.value().partitions());
  const auto read = log.value().read(partition, [&](const kafka::Record& record) {
    if (record.key != id) return;
    admin::Json json = admin::Json::parse(record.payload.value_or(""), nullptr, false);
    if (json.is_object()) found.push_back({record.timestamp, std::move(json)});
  });
  if (!read) return read.error();
  return found;
}

}  // namespace reseq::cli
