#include "tests/simulation/world/recorder.h"

namespace reseq::simulation {

namespace {

std::optional<std::string_view> view(const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string_view(*bytes);
}

}  // namespace

judge::Record record_of(const Entry& entry) {
  judge::Record record;
  record.offset = entry.offset;
  record.timestamp = entry.record->timestamp;
  record.key = view(entry.record->key);
  record.payload = view(entry.record->payload);
  for (const StoredHeader& header : entry.record->headers) record.headers.push_back({header.name, view(header.value)});
  return record;
}

Recorder::Recorder(Broker& broker, std::size_t topics, std::int32_t partitions)
    : broker_(broker),
      partitions_(static_cast<std::size_t>(partitions)),
      next_(topics * static_cast<std::size_t>(partitions)) {}

void Recorder::read() {
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const std::size_t topic = i / partitions_;
    const Partition partition(static_cast<std::int32_t>(i % partitions_));
    const Log& log = broker_.log({topic, partition});
    while (const Entry* entry = log.next_committed(next_[i])) {
      history_.add({topic, partition}, record_of(*entry));
      next_[i] = Offset(entry->offset.value() + 1);
    }
  }
}

}  // namespace reseq::simulation
