#include "cli/show.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "admin/failure_answers.h"
#include "admin/json_text.h"
#include "base/log.h"
#include "cli/lane_text.h"
#include "cli/queue_text.h"
#include "cli/table.h"

namespace reseq::cli {

namespace {

using admin::bytes_in;
using admin::Json;
using admin::member;
using admin::names_text;
using admin::number_in;
using admin::number_text;
using admin::order_text;
using admin::text_in;

// Targets of all groups in which they stand as `what`.
std::string targets_text(const Json& document, const char* what) {
  Json all = Json::array();
  for (const Json& group : member(document, "groups"))
    for (const Json& name : member(group, what)) all.push_back(name);
  return names_text(all);
}

std::string newest_order(const Json& document) {
  const Json groups = member(document, "groups");
  if (groups.is_array() && !groups.empty()) return order_text(member(groups.front(), "order"));
  const Json request = member(document, "request");  // it waits for its dispatch
  if (document.contains("journal") && request.is_object()) return order_text(member(request, "order"));
  return order_text(member(document, "barrier"));
}

std::string waits_since(const Json& document) {
  std::string oldest;
  for (const Json& waiting : member(document, "waiting")) {
    const std::string since = text_in(waiting, "since", "");
    if (oldest.empty() || since < oldest) oldest = since;
  }
  return oldest.empty() ? "-" : oldest;
}

std::string megabytes_text(const Json& disk, const char* name) {
  if (!disk.is_object()) return "-";
  return std::to_string(number_in(disk, name) / (1024 * 1024)) + " MB";
}

std::string rate_text(const Json& rates, const char* name) {
  const auto found = rates.find(name);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f",
                found != rates.end() && found->is_number() ? found->get<double>() : 0);
  return text.data();
}

std::string lag_text(const Json& part) {
  const Json inputs = member(part, "inputs");
  if (!inputs.is_object()) return "-";
  std::int64_t lag = 0;
  for (const Json& input : inputs) {
    if (!input.contains("lag")) return "-";  // it is not read, as while it is paused
    lag += number_in(input, "lag");
  }
  return std::to_string(lag);
}

std::string state_text(const Json& part) {
  if (const Json parked = member(part, "parked"); parked.is_object()) return "parked:" + text_in(parked, "reason");
  const Json restore = member(part, "restore");
  if (part.contains("paused")) return "paused";
  if (!restore.is_object())
    return text_in(part, "state") + (part.contains("requests_stopped") ? ":requests_stopped" : "");
  return text_in(part, "state") + ":" + std::to_string(number_in(restore, "target") - number_in(restore, "position"));
}

void add_line(std::string& text, const std::string& name, const std::string& value) {
  if (value.empty() || value == "-") return;
  text += name + std::string(name.size() < 17 ? 17 - name.size() : 1, ' ') + log::one_line(value) + "\n";
}

std::string group_text(const Json& group) {
  std::string text = order_text(member(group, "order"));
  for (const char* what : {"pending", "served", "removed"})
    if (const std::string names = names_text(member(group, what)); names != "-")
      text += "  " + std::string(what) + " " + names;
  return text;
}

}  // namespace

std::string document_text(const Json& part, const Json& document) {
  std::string text;
  add_line(text, "id", bytes_in(document, "id"));
  add_line(text, "partition",
           std::to_string(number_in(part, "partition")) + ", instance " + text_in(part, "instance") + ", generation " +
               std::to_string(number_in(part, "generation")) + ", as of " + text_in(part, "committed") +
               (part.contains("paused") ? ", paused" : ""));
  add_line(text, "state", text_in(document, "state"));
  for (const Json& group : member(document, "groups")) add_line(text, "order", group_text(group));
  for (const Json& waiting : member(document, "waiting"))
    add_line(text, "waits", names_text(member(waiting, "targets")) + " since " + text_in(waiting, "since"));
  for (const Json& one : member(document, "meanwhile"))
    add_line(text, "released", names_text(member(one, "targets")) + " meanwhile, at " + text_in(one, "at"));
  for (const Json& deletion : member(document, "deleted"))
    add_line(text, "deleted",
             text_in(deletion, "target") + " by " + order_text(member(deletion, "order")) + " at " +
                 text_in(deletion, "at"));
  for (const Json& entry : member(document, "journal"))
    add_line(text, text_in(entry, "state"), order_in_queue_text(part, document, entry));
  for (const Json& failure : member(document, "failures"))
    add_line(text, text_in(failure, "state"), failure_text(failure));
  for (const Json& lane : member(document, "lanes")) {
    const std::string mark = lane.contains("mark") ? ", mark " + order_text(member(lane, "mark")) : "";
    add_line(text, "lane", text_in(lane, "target") + ": " + number_text(lane, "places") + " places" + mark);
    if (const Json head = member(lane, "waits_for"); head.is_object())
      add_line(text, "waits for", lane_head_text(head));
    if (lane.contains("held"))
      add_line(text, "held",
               held_text(lane["held"]) + ", first " + order_text(member(lane["held"], "order")) + ", which came at " +
                   text_in(lane["held"], "came"));
    if (lane.contains("blocks")) add_line(text, "holds back", held_text(lane["blocks"]));
  }
  add_line(text, "overdue", names_text(member(document, "overdue")));
  add_line(text, "starving", names_text(member(document, "starving")));
  add_line(text, "barrier", order_text(member(document, "barrier")));
  add_line(text, "last version", text_in(document, "last_version"));
  add_line(text, "overdue from", text_in(document, "overdue_from"));
  add_line(text, "remembered until", text_in(document, "remembered_until"));
  if (const Json request = member(document, "request"); request.is_object())
    add_line(text, "request",
             order_text(member(request, "order")) + " at offset " + number_text(request, "offset") +
                 ", forwarded for " + names_text(member(request, "forwarded")));
  return text;
}

std::string list_text(const Json& documents, admin::State state, View view) {
  if (admin::is_of_the_queue(state)) return queue_list_text(documents, state, view);
  if (admin::is_of_failures(state)) return failures_list_text(documents, state, view);
  if (admin::is_of_lanes(state)) return lane_list_text(documents, state, view);
  std::vector<std::string> header = {"PARTITION", "ID", "STATE", "ORDER", "PENDING", "WAITS SINCE"};
  if (view == View::kWide)
    for (const char* name : {"SERVED", "REMOVED", "LAST VERSION", "REQUEST OFFSET"}) header.emplace_back(name);
  Table table(header);
  for (const Json& document : documents) {
    const std::string id = bytes_in(document, "id");
    std::vector<std::string> cells = {number_text(document, "partition"), view == View::kWide ? id : id_cell(id),
                                      text_in(document, "state"),         newest_order(document),
                                      targets_text(document, "pending"),  waits_since(document)};
    if (view == View::kWide) {
      const Json request = member(document, "request");
      cells.push_back(targets_text(document, "served"));
      cells.push_back(targets_text(document, "removed"));
      cells.push_back(text_in(document, "last_version"));
      cells.push_back(request.is_object() ? number_text(request, "offset") : "-");
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string stats_text(const admin::Answers& answers, View view) {
  std::vector<std::string> header = {"PARTITION",   "INSTANCE",   "STATE",        "LIVE",
                                     "OVERDUE",     "STARVING",   "OLDEST SINCE", "LAG",
                                     "FORWARDED/S", "RELEASED/S", "DROPPED/S",    "DEAD-LETTERED/S"};
  if (view == View::kWide)
    for (const char* name : {"COMPLETED", "NOT ON DISK", "DISK", "LAST COMMIT", "LAST VERSION"})
      header.emplace_back(name);
  Table table(header);
  for (const auto& [partition, part] : answers.partitions()) {
    const Json documents = member(part, "documents");
    const Json rates = member(part, "per_s");
    std::vector<std::string> cells = {std::to_string(partition),
                                      text_in(part, "instance"),
                                      state_text(part),
                                      number_text(documents, "live"),
                                      number_text(documents, "overdue"),
                                      number_text(documents, "starving"),
                                      text_in(documents, "oldest_waits_since"),
                                      lag_text(part)};
    for (const char* outcome : {"forwarded", "released", "dropped", "dead_lettered"})
      cells.push_back(rate_text(rates, outcome));
    if (view == View::kWide) {
      cells.push_back(number_text(documents, "completed"));
      cells.push_back(number_text(part, "rows_not_on_disk"));
      cells.push_back(megabytes_text(member(part, "disk"), "file_bytes"));
      cells.push_back(text_in(part, "committed"));
      cells.push_back(text_in(part, "last_version"));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

// A line for each target: what the partition says in which that began.
std::string targets_down_text(const admin::Answers& answers) {
  std::map<std::string, std::pair<Json, int>> all;
  for (const auto& [partition, part] : answers.partitions())
    for (const Json& down : member(part, "targets_down")) {
      auto& [first, partitions] = all[text_in(down, "target")];
      if (partitions == 0 || text_in(down, "since") < text_in(first, "since")) first = down;
      ++partitions;
    }
  std::string text;
  for (const auto& [target, down] : all)
    text += log::one_line("in " + std::to_string(down.second) + (down.second == 1 ? " partition " : " partitions ") +
                          target_down_text(down.first)) +
            "\n";
  return text;
}

// Durations are whole seconds.
std::string target_stats_text(const admin::Answers& answers) {
  Table table({"TARGET", "WAITING", "OVERDUE", "OLDEST SINCE", "RELEASED/S", "LAST RELEASE"});
  for (const Json& one : admin::targets_of(answers)) {
    const std::int64_t released = number_in(one, "released_ms_ago", -1);
    table.add({text_in(one, "target"), number_text(one, "waiting"), number_text(one, "overdue"),
               text_in(one, "oldest_waits_since"), rate_text(one, "per_s"),
               released < 0 ? "-" : std::to_string(released / 1000) + " s ago"});
  }
  std::string text = table.text() + targets_down_text(answers);
  const std::int64_t counted = admin::surveyed(answers);
  if (counted >= answers.total()) return text;
  return text + "What waits is counted in " + std::to_string(counted) + " of " + std::to_string(answers.total()) +
         " partitions: the others do not run, or have not been looked through yet.\n";
}

std::string queue_stats_text(const admin::Answers& answers) {
  const Json queue = admin::queue_of(answers);
  if (queue.empty()) return "";
  Table table({"PRIORITY", "WAITING", "PROCESSING", "DUE SINCE"});
  for (const Json& one : queue)
    table.add({number_text(one, "priority"), number_text(one, "waiting"), number_text(one, "processing"),
               text_in(one, "due_since")});
  const Json waits = admin::waits_of(answers);
  return table.text() + "of what waited " + rate_text(waits, "dispatched_per_s") + " are dispatched a second; " +
         number_text(waits, "leases_lost") + " leases were lost since the instances began\n";
}

std::string failures_stats_text(const admin::Answers& answers) {
  const Json failures = admin::failures_of(answers);
  if (!failures.is_object()) return "";
  Table table({"FAILED", "RETRYING", "LAST", "EXAMPLE", "ERROR"});
  for (const Json& one : member(failures, "errors")) {
    const Json examples = member(one, "examples");
    table.add({number_text(one, "failed"), number_text(one, "retrying"), text_in(one, "last"),
               examples.empty() ? "-" : bytes_in(examples.front(), "id"), bytes_in(one, "error")});
  }
  std::string text = table.text() + "of " + number_text(failures, "failed") +
                     " documents something failed for good, of " + number_text(failures, "retrying") +
                     " it is tried again";
  if (const Json others = member(failures, "others"); others.is_object())
    text += "; other errors: " + number_text(others, "failed") + ", " + number_text(others, "retrying");
  return text + "\n";
}

std::string topology_text(const admin::Answers& answers, View view) {
  if (view == View::kWide) {
    Table table({"PARTITION", "INSTANCE", "WORKER", "HOST", "STATE", "GENERATION", "LAST COMMIT"});
    for (const auto& [partition, part] : answers.partitions())
      table.add({std::to_string(partition), text_in(part, "instance"), number_text(part, "worker"),
                 text_in(part, "host"), state_text(part), number_text(part, "generation"), text_in(part, "committed")});
    return table.text();
  }
  Table table({"INSTANCE", "HOST", "VERSION", "WORKERS", "PARTITIONS"});
  for (const auto& [instance, reply] : answers.replies()) {
    std::string owned;
    for (const auto& [partition, part] : answers.partitions())
      if (text_in(part, "instance") == instance) owned += (owned.empty() ? "" : ",") + std::to_string(partition);
    table.add({instance, text_in(reply, "host"), text_in(reply, "version"), number_text(reply, "workers"),
               owned.empty() ? "-" : owned});
  }
  return table.text();
}

void print_json(const Json& value) {
  std::fputs(admin::indented(value).c_str(), stdout);
}

}  // namespace reseq::cli
