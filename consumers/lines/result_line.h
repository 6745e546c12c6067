// Result line: what a command of reseq-stage answers.
//
//   line := { "ticket": text,                               of the work line it answers
//             "payload": any JSON | "payload_base64": text, as in producers/ndjson; null deletes
//             "op": "upsert" | "delete",                    optional: upsert, or delete when "payload" is null
//             "targets": [text, ...],                       optional: all targets of the work line
//             "command": "sequence" | "unregister" | "register" | "fail",   optional: sequence, a result
//             "failure": "transient" | "permanent" | "unknown",     of a fail, optional: unknown
//             "failure_scope": "document" | "universal",            of a fail, optional: document
//             "effect": "none",                                     of a fail, optional: nothing was done
//             "error": text,                                        of a fail, optional: what happened
//             "headers": { name: text | null, ... },        optional: added to those of the record
//             "headers_base64": { name: text, ... },        optional, likewise
//             "done": true | false }                        optional: true, nothing more comes for this ticket
//
// A line that is to say only that nothing more comes must say "done": forgetting a payload must not lose a result.
// The members that only a work line has (id, seq, epoch) may be left in and are not read, and neither are headers of
// `reseq-` but `reseq-observed-version`: the stage copies them from the record. So a command may send back the line
// that it got, with another payload.
// Thread rule: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "consumers/stage/result.h"

namespace reseq::lines {

struct ResultLine {
  std::string ticket;
  // None: the line only says that nothing more comes.
  std::optional<stage::Answer> answer = {};
  std::optional<Op> op = {};
  std::optional<std::string> payload = {};
  std::vector<std::string> targets = {};  // empty: all
  std::vector<stage::OwnedHeader> headers = {};
  stage::WorkFailure failure = {};
  bool done = true;
};

// kInvalid with a one-line reason.
[[nodiscard]] Result<ResultLine> parse_result_line(std::string_view line);

// The ticket of a line that cannot be used for another reason; nothing when it does not name exactly one.
[[nodiscard]] std::optional<std::string> ticket_of(std::string_view line);

}  // namespace reseq::lines
