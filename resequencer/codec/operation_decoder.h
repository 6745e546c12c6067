// What operators send: RESET on `requests`, operations on `control`.
// Thread rule: any thread.
#pragma once

#include "codec/record_reader.h"
#include "model/command.h"

namespace reseq::codec {

// The record says something that only records of operators say.
[[nodiscard]] inline bool says_operation(const RecordReader& reader) {
  return reader.has(HeaderKind::kControl) || reader.has(HeaderKind::kControlId) ||
         reader.has(HeaderKind::kControlPartition);
}

[[nodiscard]] Command decode_reset(RecordReader& reader);
[[nodiscard]] Command decode_operation(RecordReader& reader);

}  // namespace reseq::codec
