#include "runtime/event_history.h"

#include <utility>

#include "admin/json_text.h"
#include "codec/hash.h"

namespace reseq::runtime {

namespace {

// Outputs are written by Java's partitioner unless inputs are by librdkafka's (runtime/clients.cpp).
Partition partition_of(const std::string& id, Partitioner inputs, std::int32_t partitions) {
  const bool crc32 = inputs == Partitioner::kCrc32;
  return codec::partition_of(id, crc32 ? Partitioner::kCrc32 : Partitioner::kMurmur2, partitions);
}

}  // namespace

Result<EventHistory> read_events_of(const Application& application, const std::string& id, const HistoryLimits& limits,
                                    const GoOn& go_on) {
  auto log = LogReading::open(application, application.settings.topic_events);
  if (!log) return log.error();
  EventHistory found;
  bool left_out = false;
  const Partition partition = partition_of(id, application.partitioner, log.value().partitions());
  const auto visit = [&](const kafka::Record& record) {
    if (record.key != id) return;
    admin::Json json = admin::parse_object(record.payload.value_or(""));
    if (json.is_discarded()) return;
    found.events.push_back({record.timestamp, std::move(json)});
    if (found.events.size() <= limits.events_max) return;
    found.events.erase(found.events.begin());
    left_out = true;
  };
  const auto whole = log.value().read(partition, visit, go_on, limits.offsets_max);
  if (!whole) return whole.error();
  found.whole = whole.value() && !left_out;
  return found;
}

}  // namespace reseq::runtime
