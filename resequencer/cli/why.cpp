#include "cli/why.h"

#include <set>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/lane_text.h"
#include "cli/table.h"

namespace reseq::cli {

namespace {

using admin::bytes_in;
using admin::Json;
using admin::member;
using admin::number_text;
using admin::order_text;
using admin::text_in;
using runtime::PastEvent;

std::string waits_since(const Json& document, const std::string& target) {
  for (const Json& waiting : member(document, "waiting"))
    for (const Json& name : member(waiting, "targets"))
      if (name == target) return text_in(waiting, "since");
  return "-";
}

// The order that the target has got last, below the group that it stands in; empty: none.
std::string last_release(const Json& document, const std::string& target) {
  for (const Json& group : member(document, "groups"))
    for (const Json& name : member(group, "served"))
      if (name == target) return order_text(member(group, "order"));
  return "";
}

// When a target that waits for long got the result of a request that was not the newest; empty: it got none.
std::string interim_release(const Json& document, const std::string& target) {
  for (const Json& meanwhile : member(document, "meanwhile"))
    for (const Json& name : member(meanwhile, "targets"))
      if (name == target) return text_in(meanwhile, "at");
  return "";
}

// "deleted by 2 at ..."; empty: its last release was no delete, or there was none.
std::string deleted_text(const Json& document, const std::string& target) {
  for (const Json& deletion : member(document, "deleted"))
    if (text_in(deletion, "target") == target)
      return "deleted by " + order_text(member(deletion, "order")) + " at " + text_in(deletion, "at");
  return "";
}

// The barrier is the order of the last delete that was meant for all targets.
std::string order_of(const Json& document, const Json& group) {
  const Json order = member(group, "order");
  return order_text(order) + (member(document, "barrier") == order ? ", which was requested as a delete" : "");
}

// Its targets have an older release, which is what it asks for.
bool is_unchanged(const Json& document, const Json& group) {
  const Json request = member(document, "request");
  return request.contains("unchanged") && member(request, "order") == member(group, "order");
}

std::string pending_text(const Json& part, const Json& document, const Json& group, const std::string& target) {
  std::string text = "waits since " + waits_since(document, target) + " for the result of " + order_of(document, group);
  const Json request = member(document, "request");
  if (request.is_object() && member(request, "order") == member(group, "order"))
    text +=
        ", requested at offset " + number_text(request, "offset") + " of partition " + number_text(part, "partition");
  if (const std::string deleted = deleted_text(document, target); !deleted.empty()) return text + ", " + deleted;
  if (const std::string last = last_release(document, target); !last.empty()) return text + ", released last: " + last;
  if (const std::string at = interim_release(document, target); !at.empty())
    return text + ", got the result of an older request at " + at;
  return text + ", no release for it is known";
}

// One word, with the operation if it was one.
std::string what_happened(const Json& event) {
  std::string kind = text_in(event, "kind");
  if (kind == "outcome") return text_in(event, "outcome");
  if (kind != "operation") return kind;
  return bytes_in(event, "operation") + (event.contains("dry_run") ? " (dry run): " : ": ") + text_in(event, "outcome");
}

}  // namespace

std::string standing_text(const Json& part, const Json& document) {
  std::string text;
  if (part.contains("paused"))
    text = "partition " + number_text(part, "partition") + " is paused: nothing is decided until `resume --partition " +
           number_text(part, "partition") + "`\n";
  if (part.contains("requests_stopped"))
    text += "partition " + number_text(part, "partition") +
            " reads no requests: more than held_bytes_max of results is held for strict and total targets; what they "
            "wait for, `list --state gap` says\n";
  bool released = false;
  std::set<std::string> told;
  const auto tell = [&](const Json& names, const auto& text_of) {
    for (const Json& name : names)
      if (name.is_string() && told.insert(name.get<std::string>()).second)
        text += log::one_line(name.get<std::string>() + " " + text_of(name.get<std::string>())) + "\n";
  };
  // Newest first: where a target is met first is where it stands.
  for (const Json& group : member(document, "groups")) {
    const std::string order = order_text(member(group, "order"));
    tell(member(group, "pending"), [&](const std::string& name) { return pending_text(part, document, group, name); });
    tell(member(group, "served"), [&](const std::string& name) {
      const std::string deleted = deleted_text(document, name);
      released = true;
      if (is_unchanged(document, group))
        return "has what " + order_text(member(group, "order")) +
               " asks for: " + (deleted.empty() ? "an older release" : "it was deleted before");
      return deleted.empty() ? "got the release of " + order_of(document, group) + ", the newest for it" : deleted;
    });
    tell(member(group, "removed"), [&](const std::string&) { return "gets nothing for " + order + ": removed"; });
  }
  text += lanes_of_document_text(document);
  if (released)
    text +=
        "a release is written to the output topic; what its sink did with it, the sink's log and dead letters say\n";
  return text;
}

std::string older_text(const Json& part, const Json& document, const std::vector<PastEvent>& events,
                       const std::string& requests) {
  const runtime::Latecomers late = runtime::latecomers_of(part, document, events, requests);
  if (late.count == 0) return "";
  return "behind its newest request came " + std::to_string(late.count) +
         (late.count == 1 ? " older one" : " older ones") + ", the last of them " + order_text(late.last) +
         ": a change that came late or was sent again is dropped as it should be; if the producer's counter has "
         "started again, it has to raise reseq-epoch, or `resequencer reset` does\n";
}

std::string stopped_text(const Json& document, const std::vector<PastEvent>& events) {
  std::set<std::string> waiting;
  for (const Json& group : member(document, "groups"))
    for (const Json& name : member(group, "pending"))
      if (name.is_string()) waiting.insert(name.get<std::string>());
  std::string text;
  for (const std::string& target : waiting) {
    const std::string since = waits_since(document, target);
    std::int64_t count = 0;
    std::string last;
    for (const PastEvent& event : events) {
      if (text_in(event.json, "outcome") != "dropped" || text_in(event.json, "target") != target ||
          !text_in(event.json, "table_row").starts_with('S') || admin::time_text(event.at) < since)
        continue;
      count += event.count;
      if (last.empty()) last = order_text(member(event.json, "order"));
    }
    if (count == 0) continue;
    std::string line = target;
    line += " waits, but results of other requests came for it and were dropped: ";
    line += std::to_string(count) + ", the last of them for " + last;
    text += log::one_line(line) + "\n";
  }
  return text;
}

std::string letters_text(const Json& letters, std::int64_t others) {
  std::string text;
  for (const Json& letter : letters) {
    text += log::one_line("dead letter " + text_in(letter, "place") + " of " + text_in(letter, "time") + ": " +
                          text_in(letter, "reason") + ", from " + text_in(letter, "source")) +
            "\n";
    if (letter.contains("fix"))
      text += "  it belongs to partition " + number_text(letter, "belongs_to") + "; " + text_in(letter, "fix") + "\n";
  }
  if (others > 0) text += "and " + std::to_string(others) + " older dead letters: `dead-letter list` names them\n";
  return text;
}

std::string unread_text(const runtime::Unread& unread, const std::string& topic) {
  if (unread.offsets == 0) return "";
  return "not read: the oldest " + std::to_string(unread.offsets) + " of " + std::to_string(unread.of) +
         " offsets of " + topic + ", partition " + std::to_string(unread.partition.value()) + ", written before " +
         admin::time_text(unread.before) + "; --all reads them";
}

std::string timeline_text(const std::vector<runtime::PastEvent>& events, View view) {
  std::vector<std::string> header = {"TIME",   "OUTCOME", "REASON", "ORDER", "NEWEST",
                                     "TARGET", "VERSION", "ROW",    "INPUT"};
  if (view == View::kWide) header.insert(header.end(), {"CONTROL ID", "TRACEPARENT", "TRACESTATE"});
  Table table(std::move(header));
  for (const PastEvent& event : events) {
    const Json& json = event.json;
    const Json source = member(json, "source");
    std::string input = "-";
    if (source.is_object())
      input = text_in(source, "topic") + " " + number_text(source, "partition") + "@" + number_text(source, "offset");
    if (event.count > 1) input += ", the first at " + admin::time_text(event.since);
    const std::string times = event.count > 1 ? ", " + std::to_string(event.count) + " times" : "";
    const std::string targets =
        json.contains("targets") ? admin::names_text(member(json, "targets")) : text_in(json, "target");
    std::vector<std::string> cells = {
        admin::time_text(event.at),        what_happened(json) + times,          text_in(json, "reason"),
        order_text(member(json, "order")), order_text(member(json, "expected")), targets,
        text_in(json, "version"),          text_in(json, "table_row"),           input};
    if (view == View::kWide)
      cells.insert(cells.end(),
                   {bytes_in(json, "control_id"), text_in(json, "traceparent"), text_in(json, "tracestate")});
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace reseq::cli
