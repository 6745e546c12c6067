// EventHistory: what the events topic tells of one document, newest first. Events are keyed by document, so one
// partition has them; nothing indexes it, so it is read in pieces from its end on, as far as there is time.
// Thread rule: one thread; it opens clients of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "admin/document_json.h"
#include "base/result.h"
#include "runtime/application.h"
#include "runtime/newest_first.h"

namespace reseq::runtime {

// An event, or a run of inputs that were dropped one after the other for the same reason.
struct PastEvent {
  UnixMs at;               // of the batch that decided it; of the newest of a run
  admin::Json json;        // schemas/events.schema.json; of the newest of a run
  std::int64_t count = 1;  // of the run
  UnixMs since = at;       // of its oldest
};

struct EventHistory {
  std::vector<PastEvent> events;  // newest first
  bool more = false;              // there are older ones than were asked for
  Unread unread;                  // what there was no time for
};

struct HistoryLimits {
  std::size_t events_max = 20;  // a run counts once
  Milliseconds time_max{500};   // of reading; to connect comes on top
};

// Errors as of a log that is read: kInvalid: there is no such topic, or it may not be read.
[[nodiscard]] Result<EventHistory> read_events_of(const Application& application, const std::string& id,
                                                  const HistoryLimits& limits, const GoOn& go_on);

// For a program: {"time", "event"}, and of a run {"count", "since"} as well.
[[nodiscard]] admin::Json event_json(const PastEvent& event);

// Puts a newer event in front; one that belongs to the run there becomes a part of it.
void put_in_front(std::deque<PastEvent>& newest_first, UnixMs at, admin::Json json);

}  // namespace reseq::runtime
