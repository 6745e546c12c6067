// Inputs about a document: requests, REGISTER, UNREGISTER, results and heartbeats.
// Thread rule: any thread.
#pragma once

#include "codec/record_reader.h"
#include "model/command.h"

namespace reseq::codec {

// A record of `requests` that is no RESET.
[[nodiscard]] Command decode_request(RecordReader& reader);
// Records of `commands`, by their command.
[[nodiscard]] Command decode_register(RecordReader& reader);
[[nodiscard]] Command decode_unregister(RecordReader& reader);
[[nodiscard]] Command decode_heartbeat(RecordReader& reader);
[[nodiscard]] Command decode_fail(RecordReader& reader);
[[nodiscard]] Command decode_result(RecordReader& reader);

// What makes a record a result, on whatever topic.
void read_result(RecordReader& reader, SequenceResult& result);

}  // namespace reseq::codec
