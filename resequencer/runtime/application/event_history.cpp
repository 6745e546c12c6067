#include "runtime/application/event_history.h"

#include <utility>

#include "admin/json_text.h"

namespace reseq::runtime {

Result<EventHistory> read_events_of(const Application& application, const HistoryOf& document,
                                    const HistoryLimits& limits, const GoOn& go_on) {
  EventLines lines(limits.events_max, document.borders);
  const auto visit = [&](const kafka::Record& record) {
    admin::Json json = admin::parse_object(record.payload.value_or(""));
    if (!json.is_discarded()) lines.add(record.timestamp, std::move(json));
  };
  const auto enough = [&] { return lines.end_piece(); };
  auto unread = read_newest_first(application, application.settings.topic_events, document.id,
                                  {kEventsAnyway, visit, enough, go_on}, limits.time_max);
  if (!unread) return unread.error();
  EventHistory found;
  found.unread = unread.value();
  found.events = lines.take();
  found.more = lines.more();
  return found;
}

}  // namespace reseq::runtime
