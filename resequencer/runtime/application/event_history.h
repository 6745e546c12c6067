// EventHistory: what the events topic tells of one document, newest first. Events are keyed by document, so one
// partition has them; nothing indexes it, so it is read in pieces from its end on, as far as there is time.
// Thread rule: one thread; it opens clients of its own.
#pragma once

#include <string>
#include <vector>

#include "runtime/application/application.h"
#include "runtime/application/event_lines.h"
#include "runtime/application/newest_first.h"

namespace reseq::runtime {

struct EventHistory {
  std::vector<PastEvent> events;  // newest first
  bool more = false;              // there are older ones than were asked for
  Unread unread;                  // what there was no time for
};

struct HistoryLimits {
  std::size_t events_max = 20;  // a run counts once
  Milliseconds time_max = kEventsTime;
};

struct HistoryOf {
  std::string id;
  Borders borders;  // see EventLines
};

// Errors as of a log that is read: kInvalid: there is no such topic, or it may not be read.
[[nodiscard]] Result<EventHistory> read_events_of(const Application& application, const HistoryOf& document,
                                                  const HistoryLimits& limits, const GoOn& go_on);

}  // namespace reseq::runtime
