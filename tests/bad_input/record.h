// Records that own their bytes: as they are sent, and as a reader finds them.
// Thread rule: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/plain_record.h"
#include "model/partition_state.h"

namespace reseq::test {

using Bytes = std::optional<std::string>;  // absent = null

struct RecordHeader {
  std::string name;
  Bytes value;
  friend bool operator==(const RecordHeader&, const RecordHeader&) = default;
};
using Headers = std::vector<RecordHeader>;

struct Record {
  Bytes key;
  Bytes payload;
  Headers headers;
  // Value of the last header of that name; nothing when there is none or it is null.
  [[nodiscard]] Bytes header(std::string_view name) const;
  friend bool operator==(const Record&, const Record&) = default;
};
// Printable bytes as they are, others as \xHH, long ones cut: what a failed test shows.
std::ostream& operator<<(std::ostream& out, const Record& record);

struct Place {
  std::string topic;
  int partition = 0;
  std::int64_t offset = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
std::ostream& operator<<(std::ostream& out, const Place& place);

struct ReadRecord {
  Place place;
  std::int64_t timestamp_ms = 0;
  Record record;
};
[[nodiscard]] ReadRecord read_record(const kafka::PlainRecord& record);

// The first of stem, stem1, stem2, ... that belongs to the partition.
[[nodiscard]] std::string id_in(int partition, const std::string& stem, int partitions,
                                Partitioner partitioner = Partitioner::kMurmur2);

}  // namespace reseq::test
