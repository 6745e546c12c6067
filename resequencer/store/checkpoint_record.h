// CheckpointRecord: what a copy on disk says about itself, written in the same LMDB transaction as its rows.
//
//   record := format u8 | position fixed64 | last record: low fixed64, high fixed64 | generation fixed64
//             | digest: low fixed64, high fixed64 | live rows fixed64 | watermarks fixed64
//             | format 2: count+ | format 3: number of counts u8, count*, priority+ | checksum 4 bytes
//   format := 1, 2 when there are other counts, 3 when there are priorities
//   count := count u8 | sum fixed64              of the other counts, rising, none 0
//   priority := priority u8 | waiting fixed64 | processing fixed64      rising, none with nothing
//   checksum := CRC-32 of what stands before it, lowest byte first
//
// Thread rule: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"
#include "model/summary.h"

namespace reseq::store {

inline constexpr std::string_view kCheckpointKey = "checkpoint";  // of the record in its table

// Where a state stands in its changelog.
struct Checkpoint {
  Offset position;               // last applied record + 1
  Digest last_record;            // KeyedHash::of_record(key, value or empty) of the record at position - 1
  std::uint64_t generation = 0;  // newest one in the lineage when that was the meta row; 0: inside of a transaction
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct CheckpointRecord {
  Checkpoint checkpoint;
  Summary summary;
  friend bool operator==(const CheckpointRecord&, const CheckpointRecord&) = default;
};

[[nodiscard]] std::string encode_checkpoint(const CheckpointRecord& record);
// kInvalid: damaged, or of a newer format.
[[nodiscard]] Result<CheckpointRecord> decode_checkpoint(std::string_view bytes);

}  // namespace reseq::store
