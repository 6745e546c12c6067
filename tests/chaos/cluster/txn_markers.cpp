#include "tests/chaos/cluster/txn_markers.h"

#include <algorithm>

#include "tests/chaos/cluster/broker_call.h"

namespace reseq::chaos {

namespace {

constexpr std::int16_t kVersion = 1;

void read_topic_errors(WireReader& reader, const std::vector<NamedPartition>& partitions,
                       std::vector<std::int16_t>& errors) {
  const std::string topic = reader.compact_text();
  for (std::uint32_t count = reader.varint(); count > 1 && reader.good(); --count) {
    const std::int32_t partition = reader.i32();
    const std::int16_t error = reader.i16();
    reader.skip_tags();
    const auto found = std::find(partitions.begin(), partitions.end(), NamedPartition{topic, partition});
    if (reader.good() && found != partitions.end())
      errors[static_cast<std::size_t>(found - partitions.begin())] = error;
  }
  reader.skip_tags();
}

}  // namespace

WireWriter marker_request(const Decision& decision, const std::vector<NamedPartition>& partitions) {
  WireWriter body;
  body.no_tags();         // of the header
  body.compact_count(1);  // markers
  body.i64(decision.producer_id).i16(decision.producer_epoch).i8(decision.commit ? 1 : 0);
  body.compact_count(partitions.size());
  for (const NamedPartition& one : partitions)  // a topic may come several times
    body.compact_text(one.topic).compact_count(1).i32(one.partition).no_tags();
  body.i32(decision.coordinator_epoch).no_tags();
  body.no_tags();
  return body;
}

std::vector<std::int16_t> marker_errors(std::string_view answer, const std::vector<NamedPartition>& partitions) {
  std::vector<std::int16_t> errors(partitions.size(), -1);
  WireReader reader(answer);
  reader.skip_tags();  // of the header
  for (std::uint32_t markers = reader.varint(); markers > 1 && reader.good(); --markers) {
    (void)reader.i64();  // producer id
    for (std::uint32_t topics = reader.varint(); topics > 1 && reader.good(); --topics)
      read_topic_errors(reader, partitions, errors);
    reader.skip_tags();
  }
  return errors;
}

MarkerResult marker_result(std::int16_t error) {
  switch (error) {
    case 0:
      return MarkerResult::kWritten;
    case -1:  // no answer
    case 3:   // UNKNOWN_TOPIC_OR_PARTITION
    case 5:   // LEADER_NOT_AVAILABLE
    case 6:   // NOT_LEADER_OR_FOLLOWER
    case 7:   // REQUEST_TIMED_OUT
    case 14:  // COORDINATOR_LOAD_IN_PROGRESS
    case 15:  // COORDINATOR_NOT_AVAILABLE
    case 16:  // NOT_COORDINATOR
    case 19:  // NOT_ENOUGH_REPLICAS
    case 20:  // NOT_ENOUGH_REPLICAS_AFTER_APPEND
    case 52:  // TRANSACTION_COORDINATOR_FENCED: it wrote a marker itself in its next term, and is about to say so
      return MarkerResult::kLater;
    case 47:  // INVALID_PRODUCER_EPOCH
      return MarkerResult::kFenced;
    default:
      return MarkerResult::kRefused;
  }
}

std::vector<std::int16_t> write_markers(std::uint16_t port, const Decision& decision,
                                        const std::vector<NamedPartition>& partitions,
                                        std::chrono::milliseconds limit) {
  const auto answer = call(port, Api::kWriteTxnMarkers, kVersion, marker_request(decision, partitions), limit);
  if (!answer) return std::vector<std::int16_t>(partitions.size(), -1);
  return marker_errors(*answer, partitions);
}

}  // namespace reseq::chaos
