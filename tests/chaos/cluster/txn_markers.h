// Writes the markers that end a transaction in its partitions, as its coordinator does (WriteTxnMarkers, version 1).
// Thread rule: plain functions; each call makes a connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/chaos/cluster/skipped_markers.h"
#include "tests/chaos/proxy/wire.h"

namespace reseq::chaos {

// What became of the marker of one partition.
enum class MarkerResult : std::uint8_t {
  kWritten,
  kLater,    // not at the moment, or not any more; writing it again is harmless
  kFenced,   // the producer has a newer epoch: something else was decided since
  kRefused,  // anything else
};

// The body of the request, with the tags of its header.
[[nodiscard]] WireWriter marker_request(const Decision& decision, const std::vector<NamedPartition>& partitions);
// By partition, in the order of the request: Kafka's error code; -1: the answer does not say.
[[nodiscard]] std::vector<std::int16_t> marker_errors(std::string_view answer,
                                                      const std::vector<NamedPartition>& partitions);
[[nodiscard]] MarkerResult marker_result(std::int16_t error);

// To the broker at this port, which has to lead the partitions. Error codes as above; no answer is -1 for all.
[[nodiscard]] std::vector<std::int16_t> write_markers(std::uint16_t port, const Decision& decision,
                                                      const std::vector<NamedPartition>& partitions,
                                                      std::chrono::milliseconds limit);

}  // namespace reseq::chaos
