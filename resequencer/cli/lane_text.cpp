#include "cli/lane_text.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/table.h"

namespace reseq::cli {

namespace {

using admin::bytes_in;
using admin::Json;
using admin::member;
using admin::number_in;
using admin::number_text;
using admin::order_text;
using admin::text_in;

// What leaves now is waited for only until it has.
std::string blocker_text(const Json& head) {
  if (!head.is_object()) return "-";
  return head.contains("has_result") ? "turn" : bytes_in(head, "id") + " " + order_text(member(head, "order"));
}

// Of what waits, that which is skipped first; a gap before what holds nothing back.
bool goes_before(const Json& lanes, const Json& others) {
  const bool gap = number_in(lanes, "gaps") > 0;
  const bool other = number_in(others, "gaps") > 0;
  if (gap != other) return gap;
  return text_in(member(lanes, "waits_for"), "skipped_at", "~") <
         text_in(member(others, "waits_for"), "skipped_at", "~");
}

// By target, of all partitions.
std::string by_target_text(const admin::Answers& answers) {
  struct Sum {
    std::map<std::string, std::int64_t> counts;
    Json first;  // of the partition whose head is shown
  };
  std::map<std::string, Sum> all;
  for (const auto& [partition, part] : answers.partitions()) {
    const Json by_target = member(member(member(part, "documents"), "lanes"), "by_target");
    if (!by_target.is_object()) continue;
    for (const auto& [target, lanes] : by_target.items()) {
      Sum& sum = all[target];
      for (const char* count : {"places", "held", "gaps"}) sum.counts[count] += number_in(lanes, count);
      if (!sum.first.is_object() || goes_before(lanes, sum.first)) sum.first = lanes;
    }
  }
  if (all.empty()) return "";
  Table table({"TARGET", "PLACES", "HELD", "GAPS", "WAITS FOR", "WENT TO WORK", "SKIPPED AT"});
  for (auto& [target, sum] : all) {
    const Json head = member(sum.first, "waits_for");
    table.add({target, std::to_string(sum.counts["places"]), std::to_string(sum.counts["held"]),
               std::to_string(sum.counts["gaps"]), blocker_text(head), text_in(head, "since"),
               text_in(head, "skipped_at")});
  }
  return table.text();
}

}  // namespace

std::string lane_head_text(const Json& head) {
  const std::string text = bytes_in(head, "id") + " " + order_text(member(head, "order"));
  if (!head.contains("since"))
    return text + (head.contains("has_result") ? ", which leaves now" : ", which waits to go to work");
  const std::string went = text + ", which went to work at " + text_in(head, "since");
  if (head.contains("has_result")) return went + " and leaves now";
  if (head.contains("skipped_at")) return went + " and is skipped at " + text_in(head, "skipped_at");
  return went + " and is tried again when its lease ends";
}

std::string held_text(const Json& held) {
  return std::to_string(number_in(held, "results")) + (held.is_object() && held.contains("more") ? "+" : "");
}

std::string lanes_of_document_text(const Json& document) {
  std::string text;
  for (const Json& lane : member(document, "lanes")) {
    const std::string places = number_text(lane, "places");
    if (places == "0" && lane.contains("mark"))  // what it was given last has left
      text += log::one_line(text_in(lane, "target") + " has gone on to " + order_text(member(lane, "mark"))) + "\n";
    if (places == "0") continue;
    std::string line = text_in(lane, "target") + " waits for " + places + (places == "1" ? " version" : " versions") +
                       " of it, and first for " + lane_head_text(member(lane, "waits_for"));
    if (lane.contains("held")) line += "; results of it that are held: " + held_text(lane["held"]);
    if (lane.contains("blocks")) line += "; results that wait for it: " + held_text(lane["blocks"]);
    text += log::one_line(line) + "\n";
  }
  return text;
}

std::string lanes_text(const admin::Answers& answers) {
  std::int64_t places = 0;
  std::int64_t queued = 0;
  Json head;
  for (const auto& [partition, part] : answers.partitions()) {
    const Json lanes = member(member(part, "documents"), "lanes");
    places += number_in(lanes, "places");
    queued += number_in(lanes, "queued");
    const Json waits = member(lanes, "waits_for");
    if (!waits.is_object()) continue;
    if (!head.is_object() || text_in(waits, "skipped_at", "~") < text_in(head, "skipped_at", "~")) head = waits;
  }
  if (places == 0) return "";
  std::string text = std::to_string(places) + (places == 1 ? " place" : " places") + " in lanes";
  if (queued > 0) text += ", " + std::to_string(queued) + " of them behind orders.lane_in_flight_max";
  if (head.is_object()) text += "; " + text_in(head, "target") + " waits for " + lane_head_text(head);
  return by_target_text(answers) + log::one_line(text) + "\n";
}

std::string lane_list_text(const Json& documents, admin::State state, View view) {
  const bool gaps = state == admin::State::kGap;
  std::vector<std::string> header = {"PARTITION", "ID", "TARGET", "ORDER"};
  if (gaps)
    header.insert(header.end(), {"HOLDS BACK", "WENT TO WORK", "SKIPPED AT"});
  else
    header.insert(header.end(), {"HELD", "WENT TO WORK", "CAME", "WAITS FOR", "SKIPPED AT"});
  Table table(std::move(header));
  for (const Json& document : documents)
    for (const Json& lane : member(document, "lanes")) {
      if (!lane.contains(gaps ? "blocks" : "held")) continue;
      const Json head = member(lane, "waits_for");
      const Json held = member(lane, "held");
      const std::string id = bytes_in(document, "id");
      std::vector<std::string> cells = {number_text(document, "partition"), view == View::kWide ? id : id_cell(id),
                                        text_in(lane, "target"), order_text(member(gaps ? head : held, "order"))};
      if (gaps)
        cells.insert(cells.end(), {held_text(lane["blocks"]), text_in(head, "since"), text_in(head, "skipped_at")});
      else
        cells.insert(cells.end(), {held_text(held), text_in(held, "since"), text_in(held, "came"), blocker_text(head),
                                   text_in(head, "skipped_at")});
      table.add(std::move(cells));
    }
  return table.text();
}

}  // namespace reseq::cli
