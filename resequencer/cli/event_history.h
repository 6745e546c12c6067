// EventHistory: what the events topic tells of one document, oldest first. Events are keyed by document, so one
// partition has them; nothing indexes it, so it is read from its beginning to its stable end.
// Thread rule: main thread.
#pragma once

#include <string>
#include <vector>

#include "admin/document_json.h"
#include "base/result.h"
#include "runtime/application.h"

namespace reseq::cli {

struct PastEvent {
  UnixMs at;         // of the batch that decided it
  admin::Json json;  // schemas/events.schema.json
};

// Errors as of a log that is read: kInvalid: there is no such topic, or it may not be read. Says on stderr how far it
// is when it takes longer than a few seconds.
[[nodiscard]] Result<std::vector<PastEvent>> read_events_of(const runtime::Application& application,
                                                            const std::string& id);

}  // namespace reseq::cli
