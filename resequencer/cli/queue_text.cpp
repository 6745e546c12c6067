#include "cli/queue_text.h"

#include <algorithm>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/selection.h"
#include "cli/table.h"

namespace reseq::cli {

namespace {

using admin::bytes_in;
using admin::Json;
using admin::member;
using admin::names_text;
using admin::number_text;
using admin::order_text;
using admin::text_in;

// "attempt 2, its lease ends at ..."; nobody waits for what has no lease.
std::string attempt_text(const Json& entry) {
  std::string text = "attempt " + number_text(entry, "attempt");
  if (entry.contains("lease_until"))
    text += ", it waits again at " + text_in(entry, "lease_until") + " if nobody answers";
  return text;
}

// Those that are under way and keep a newer one.
std::string blockers_text(const Json& document) {
  std::string text;
  for (const Json& other : member(document, "journal"))
    if (text_in(other, "state") == "processing")
      text += (text.empty() ? "" : "; ") + ("an older order, " + order_text(member(other, "order"))) +
              ", is under way: " + attempt_text(other);
  return text.empty() ? "an older order is under way" : text;
}

// Of those that the order waits for.
std::string targets_down_text(const Json& part, const Json& targets) {
  std::string text;
  for (const Json& down : member(part, "targets_down"))
    if (std::find(targets.begin(), targets.end(), down["target"]) != targets.end())
      text += (text.empty() ? "" : "; ") + target_down_text(down);
  return text.empty() ? "a target cannot be reached" : text;
}

std::string obstacle_text(const Json& part, const Json& document, const Json& entry) {
  const std::string what = text_in(entry, "waits_for");
  if (what == "date") return "not before " + text_in(entry, "process_at");
  if (what == "older_order") return blockers_text(document);
  if (what == "idle") return "idle: something more urgent is under way";
  if (what == "room") {
    const Json in_flight = member(part, "in_flight");
    return number_text(in_flight, "documents") + " documents of in_flight_max = " + number_text(in_flight, "max") +
           " are under way";
  }
  if (what == "target") return targets_down_text(part, member(entry, "targets"));
  if (what == "turn") return "it is its turn once what is more urgent has left";
  return "-";  // of another version
}

std::string error_text(const Json& failure) {
  std::string error = bytes_in(failure, "error");
  if (!failure.contains("effect_unknown")) return error;
  return "nobody knows whether it was done" + (error.empty() ? "" : ": " + error);
}

}  // namespace

std::string target_down_text(const Json& down) {
  const std::string error = bytes_in(down, "error");
  return text_in(down, "target") + " cannot be reached since " + text_in(down, "since") +
         (down.contains("tried_at") ? ", tried next at " + text_in(down, "tried_at")
                                    : ", and is not tried before `resume --target " + text_in(down, "target") + "`") +
         (error.empty() ? "" : ": " + error);
}

std::string order_in_queue_text(const Json& part, const Json& document, const Json& entry) {
  const bool waits = text_in(entry, "state") == "waiting";
  std::string text = order_text(member(entry, "order")) + " for " + names_text(member(entry, "targets")) +
                     ", priority " + number_text(entry, "priority") + ": " +
                     (waits ? obstacle_text(part, document, entry) : attempt_text(entry));
  if (waits && entry.contains("attempt")) text += "; attempt " + number_text(entry, "attempt") + " was the last one";
  if (entry.contains("stuck"))
    text +=
        "; stuck: its lease was lost " + number_text(entry, "leases_lost") + " times, it is tried behind all others";
  if (waits && entry.contains("expires_at")) text += "; nobody wants it from " + text_in(entry, "expires_at") + " on";
  return text;
}

std::string queue_text(const Json& part, const Json& document) {
  std::string text;
  for (const Json& entry : member(document, "journal"))
    text += log::one_line((text_in(entry, "state") == "waiting" ? "waits for its dispatch: " : "is under way: ") +
                          order_in_queue_text(part, document, entry)) +
            "\n";
  return text;
}

std::string queue_list_text(const Json& documents, admin::State state, View view) {
  std::vector<std::string> header = {"PARTITION",  "ID",         "ORDER",   "TARGETS",     "PRIORITY",
                                     "PROCESS AT", "EXPIRES AT", "ATTEMPT", "LEASE UNTIL", "WAITS FOR"};
  if (view == View::kWide) header.insert(header.end(), {"STATE", "LEASES LOST"});
  Table table(std::move(header));
  for (const Json& document : documents)
    for (const Json& entry : member(document, "journal")) {
      if (!is_in_state(entry, state)) continue;
      const std::string id = bytes_in(document, "id");
      std::vector<std::string> cells = {number_text(document, "partition"), view == View::kWide ? id : id_cell(id),
                                        order_text(member(entry, "order")), names_text(member(entry, "targets")),
                                        number_text(entry, "priority"),     text_in(entry, "process_at"),
                                        text_in(entry, "expires_at"),       number_text(entry, "attempt"),
                                        text_in(entry, "lease_until"),      text_in(entry, "waits_for")};
      if (view == View::kWide) cells.insert(cells.end(), {text_in(entry, "state"), number_text(entry, "leases_lost")});
      table.add(std::move(cells));
    }
  return table.text();
}

std::string failure_text(const Json& failure) {
  const std::string error = error_text(failure);
  return order_text(member(failure, "order")) + " for " + names_text(member(failure, "targets")) + ", attempt " +
         number_text(failure, "attempt") + " at " + text_in(failure, "at") +
         (error.empty() ? ", without a word why" : ": " + error);
}

std::string failures_text(const Json& document) {
  std::string text;
  for (const Json& failure : member(document, "failures"))
    text += log::one_line((text_in(failure, "state") == "failed" ? "failed for good, and nothing is tried again: "
                                                                 : "failed, and is tried again: ") +
                          failure_text(failure)) +
            "\n";
  return text;
}

std::string failures_list_text(const Json& documents, admin::State state, View view) {
  std::vector<std::string> header = {"PARTITION", "ID", "ORDER", "TARGETS", "ATTEMPT", "RETRIES", "AT", "ERROR"};
  const bool again = state == admin::State::kRetrying;
  if (again) header.insert(header.end() - 1, "NEXT");
  Table table(std::move(header));
  for (const Json& document : documents)
    for (const Json& failure : member(document, "failures")) {
      if (!is_in_state(failure, state)) continue;
      const std::string id = bytes_in(document, "id");
      std::vector<std::string> cells = {number_text(document, "partition"),
                                        view == View::kWide ? id : id_cell(id),
                                        order_text(member(failure, "order")),
                                        names_text(member(failure, "targets")),
                                        number_text(failure, "attempt"),
                                        number_text(failure, "retries"),
                                        text_in(failure, "at")};
      if (again) cells.push_back(text_in(failure, "next_at"));
      cells.push_back(error_text(failure));
      table.add(std::move(cells));
    }
  return table.text();
}

}  // namespace reseq::cli
