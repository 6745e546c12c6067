// EventHistory: what the events topic tells of one document, oldest first. Events are keyed by document, so one
// partition has them; nothing indexes it, so it is read up to its stable end, from its beginning unless told otherwise.
// Thread rule: one thread; it opens clients of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "admin/document_json.h"
#include "base/result.h"
#include "runtime/application.h"
#include "runtime/log_reading.h"

namespace reseq::runtime {

struct PastEvent {
  UnixMs at;         // of the batch that decided it
  admin::Json json;  // schemas/events.schema.json
};

struct EventHistory {
  std::vector<PastEvent> events;
  bool whole = true;  // false: a limit was met, and there may be more
};

struct HistoryLimits {
  std::int64_t offsets_max = INT64_MAX;  // of the partition, its newest
  std::size_t events_max = SIZE_MAX;     // of the document, its newest
};

// Errors as of a log that is read: kInvalid: there is no such topic, or it may not be read.
[[nodiscard]] Result<EventHistory> read_events_of(const Application& application, const std::string& id,
                                                  const HistoryLimits& limits, const GoOn& go_on);

}  // namespace reseq::runtime
