#include "runtime/event_history.h"

#include <iterator>
#include <utility>

#include "admin/json_text.h"

namespace reseq::runtime {

namespace {

using admin::text_in;

bool is_one_run(const admin::Json& newer, const admin::Json& older) {
  const auto dropped = [](const admin::Json& event) {
    return text_in(event, "kind") == "outcome" && text_in(event, "outcome") == "dropped";
  };
  return dropped(newer) && dropped(older) && text_in(newer, "reason") == text_in(older, "reason");
}

}  // namespace

void put_in_front(std::deque<PastEvent>& newest_first, UnixMs at, admin::Json json) {
  if (newest_first.empty() || !is_one_run(json, newest_first.front().json)) {
    newest_first.push_front({.at = at, .json = std::move(json)});
    return;
  }
  PastEvent& run = newest_first.front();
  run.at = at;
  run.json = std::move(json);
  ++run.count;
}

Result<EventHistory> read_events_of(const Application& application, const std::string& id, const HistoryLimits& limits,
                                    const GoOn& go_on) {
  EventHistory found;
  std::deque<PastEvent> piece;
  const auto visit = [&](const kafka::Record& record) {
    admin::Json json = admin::parse_object(record.payload.value_or(""));
    if (json.is_discarded()) return;
    put_in_front(piece, record.timestamp, std::move(json));
    // The oldest of a piece may belong to a run that goes on in the one before.
    if (piece.size() > limits.events_max + 1) piece.pop_back(), found.more = true;
  };
  const auto enough = [&] {
    std::vector<PastEvent>& events = found.events;
    auto from = piece.begin();
    if (!events.empty() && from != piece.end() && is_one_run(events.back().json, from->json)) {
      events.back().count += from->count;
      events.back().since = from->since;
      ++from;
    }
    events.insert(events.end(), std::move_iterator(from), std::move_iterator(piece.end()));
    piece.clear();
    return events.size() > limits.events_max;
  };
  auto unread =
      read_newest_first(application, application.settings.topic_events, id, {visit, enough, go_on}, limits.time_max);
  if (!unread) return unread.error();
  found.unread = unread.value();
  if (found.events.size() > limits.events_max) {
    found.events.resize(limits.events_max);
    found.more = true;
  }
  return found;
}

admin::Json event_json(const PastEvent& event) {
  admin::Json json = {{"time", admin::time_text(event.at)}, {"event", event.json}};
  if (event.count > 1) {
    json["count"] = event.count;
    json["since"] = admin::time_text(event.since);
  }
  return json;
}

}  // namespace reseq::runtime
