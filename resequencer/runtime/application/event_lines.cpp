#include "runtime/application/event_lines.h"

#include <algorithm>
#include <utility>

#include "admin/json_text.h"

namespace reseq::runtime {

namespace {

using admin::Json;
using admin::member;
using admin::number_in;
using admin::text_in;

bool is_behind(const Json& source, const std::vector<RequestPlace>& newest) {
  const std::string topic = text_in(source, "topic");
  const Partition partition(static_cast<std::int32_t>(number_in(source, "partition", -1)));
  const Offset offset(number_in(source, "offset", -1));
  return std::any_of(newest.begin(), newest.end(), [&](const RequestPlace& place) {
    return place.topic == topic && place.partition == partition && offset >= place.offset;
  });
}

bool is_waited_for(UnixMs at, const std::string& target, const std::vector<Wait>& waits) {
  return std::any_of(waits.begin(), waits.end(),
                     [&](const Wait& wait) { return wait.target == target && admin::time_text(at) >= wait.since; });
}

std::string kind_of(UnixMs at, const Json& event, const Borders& borders) {
  if (text_in(event, "kind") != "outcome" || text_in(event, "outcome") != "dropped") return "";
  std::string kind;
  for (const char* name : {"reason", "table_row", "target"}) kind += text_in(event, name) + "\n";
  const Json source = member(event, "source");
  return kind + text_in(source, "topic") + (is_behind(source, borders.newest) ? "\nbehind" : "") +
         (is_waited_for(at, text_in(event, "target"), borders.waits) ? "\nwaited for" : "");
}

// The run of that kind, from the end of the lines on where the next one is put; `end`: there is none.
template <typename Iterator>
Iterator run_of(const std::string& kind, Iterator begin, Iterator end) {
  if (kind.empty()) return end;
  Iterator line = begin;
  for (std::size_t i = 0; i < kKindsMax && line != end && !line->kind.empty(); ++i, ++line)
    if (line->kind == kind) return line;
  return end;
}

// Something newer was known when it came: of its targets, or in the lane of an ordered one. Not so in the other rows:
// what is superseded there was the newest, until a newer one came in the same batch.
bool was_older(const Json& event) {
  const std::string reason = text_in(event, "reason");
  const std::string row = text_in(event, "table_row");
  return (reason == "superseded" || reason == "epoch_behind") && (row == "R0" || row == "R4" || row == "O1");
}

// How many of the oldest lines older events may still belong to.
std::size_t open_runs(const std::vector<PastEvent>& lines) {
  std::size_t open = 0;
  while (open < lines.size() && open < kKindsMax && !lines[lines.size() - 1 - open].kind.empty()) ++open;
  return open;
}

}  // namespace

Borders borders_of(const Json& parts, const std::string& topic) {
  Borders borders;
  for (const Json& part : parts)
    for (const Json& document : member(part, "documents")) {
      for (const Json& waiting : member(document, "waiting"))
        for (const Json& name : member(waiting, "targets"))
          if (name.is_string()) borders.waits.push_back({name.get<std::string>(), text_in(waiting, "since")});
      const Json request = member(document, "request");
      if (!request.is_object()) continue;
      const Partition partition(static_cast<std::int32_t>(number_in(part, "partition")));
      borders.newest.push_back({topic, partition, Offset(number_in(request, "offset"))});
    }
  return borders;
}

Json event_json(const PastEvent& event) {
  Json json = {{"time", admin::time_text(event.at)}, {"event", event.json}};
  if (event.count > 1) {
    json["count"] = event.count;
    json["since"] = admin::time_text(event.since);
  }
  return json;
}

Latecomers latecomers_of(const Json& part, const Json& document, const std::vector<PastEvent>& events,
                         const std::string& topic) {
  const Json newest = member(document, "request");
  Latecomers late;
  for (const PastEvent& event : events) {
    const Json source = member(event.json, "source");
    if (!was_older(event.json) || text_in(source, "topic") != topic ||
        member(source, "partition") != member(part, "partition") ||
        (newest.is_object() && number_in(source, "offset") < number_in(newest, "offset")))
      continue;
    if (late.count == 0) late.last = member(event.json, "order");
    late.count += event.count;
  }
  return late;
}

void EventLines::add(UnixMs at, Json event) {
  PastEvent line{.at = at, .json = std::move(event)};
  line.kind = kind_of(at, line.json, borders_);
  if (const auto run = run_of(line.kind, piece_.begin(), piece_.end()); run != piece_.end()) {
    line.count += run->count;
    line.since = run->since;
    piece_.erase(run);
  }
  piece_.push_front(std::move(line));
  // The newest of a piece may belong to runs that there are already, so that many are held beyond what is wanted.
  if (piece_.size() > lines_max_ + kKindsMax) piece_.pop_back(), more_ = true;
}

bool EventLines::end_piece() {
  for (PastEvent& older : piece_) {
    const auto run = run_of(older.kind, lines_.rbegin(), lines_.rend());
    if (run == lines_.rend()) {
      lines_.push_back(std::move(older));
      continue;
    }
    run->count += older.count;
    run->since = older.since;
  }
  piece_.clear();
  return lines_.size() > lines_max_ && lines_.size() - open_runs(lines_) >= lines_max_;
}

std::vector<PastEvent> EventLines::take() {
  if (lines_.size() > lines_max_) {
    lines_.resize(lines_max_);
    more_ = true;
  }
  return std::exchange(lines_, {});
}

}  // namespace reseq::runtime
