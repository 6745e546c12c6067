// Line parser: one line of NDJSON as a change.
//
//   line := { "id": text | "id_base64": text,
//             "seq": number | text,
//             "op": "upsert" | "delete",                  optional: upsert, or delete when "payload" is null
//             "payload": any JSON | "payload_base64": text,
//             "targets": [text, ...],                     optional
//             "epoch": number,                            optional
//             "priority": number,                         optional, as the next two: where requests wait
//             "process_at": number | text,                milliseconds since 1970, or RFC 3339
//             "expires_at": number | text }               the same; not of a delete
//
// A payload that is text is sent as its UTF-8 bytes; any other JSON is sent byte by byte as it stands in the line, so
// that no number loses a digit. Without a payload a line must say "op": "delete": forgetting it must not delete.
// Members of other names are refused, and so is a member that comes twice.
// Thread rule: any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "producers/tagging/change.h"

namespace reseq::ndjson {

// kInvalid with a one-line reason.
[[nodiscard]] Result<tagging::Change> parse_line(std::string_view line);

}  // namespace reseq::ndjson
