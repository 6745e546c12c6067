#include "config/rules.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "config/address.h"
#include "config/nearest.h"
#include "config/plan.h"
#include "config/transport.h"
#include "config/values.h"

namespace reseq::config {

namespace {

constexpr std::size_t kTargetsMax = 64;
constexpr std::size_t kTargetNameBytesMax = 100;
constexpr std::size_t kTopicNameBytesMax = 249;  // Kafka's limit

bool is_name(const std::string& name, std::size_t bytes_max) {
  return !name.empty() && name.size() <= bytes_max && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

bool is_folder_name(const std::string& name) {
  return name != "." && name != ".." && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

Result<> check_names(const Settings& s) {
  if (s.application_id.empty()) return invalid("application.id is missing");
  if (s.bootstrap_servers.empty()) return invalid("bootstrap.servers is missing");
  if (s.instance_id.empty()) return invalid("instance.id must not be empty");
  if (!is_folder_name(s.application_id) || !is_folder_name(s.instance_id))
    return invalid("application.id and instance.id name folders below state.dir: no slash, and not . or ..");
  if (s.state_dir.empty()) return invalid("state.dir must not be empty");
  return Done{};
}

Result<> check_targets(const Settings& s) {
  if (s.targets.empty()) return invalid("no [[target]]: name at least one, as [[target]] name = \"search\"");
  if (s.targets.size() > kTargetsMax) return invalid("more than 64 targets");
  std::vector<std::string> names;
  for (const Target& target : s.targets) {
    if (target.name.empty()) return invalid("[[target]] without a name");
    if (!is_name(target.name, kTargetNameBytesMax))
      return invalid("target \"" + target.name + "\": at most 100 letters, digits, dots, underscores and dashes");
    if (std::find(names.begin(), names.end(), target.name) != names.end())
      return invalid("target " + target.name + " is named twice");
    names.push_back(target.name);
  }
  for (const Route& route : s.routes) {
    if (route.targets.empty()) return invalid("[[route]] without targets");
    if (route.header.empty() && !route.header_value.empty())
      return invalid("[[route]] with header_value = \"" + route.header_value + "\" needs header");
    for (const std::string& name : route.targets)
      if (std::find(names.begin(), names.end(), name) == names.end())
        return invalid("[[route]] names target " + name + ", which no [[target]] has; the nearest one is " +
                       nearest(name, names).word);
  }
  return Done{};
}

// A topic with two roles would be read as its own output, or carry records that its readers do not expect. Only what
// is set aside for people may share a topic: dead letters and on_missing_topic.
Result<> check_topics(const Settings& s) {
  std::map<std::string, std::string> role_of;
  const auto take = [&](const std::string& topic, const std::string& key) -> Result<> {
    if (!is_name(topic, kTopicNameBytesMax) || topic == "." || topic == "..")
      return invalid(key + " = \"" + topic +
                     "\" is no name of a topic: at most 249 letters, digits, dots, underscores and dashes");
    const auto [at, is_new] = role_of.emplace(topic, key);
    if (is_new) return Done{};
    return invalid(key + " and " + at->second + " are the same topic " + topic + ": give each its own");
  };
  for (const auto& taken :
       {take(s.topic_requests, "topic.requests"), take(s.topic_commands, "topic.commands"),
        take(s.topic_control, "topic.control"), take(s.topic_work, "topic.work"),
        take(s.topic_dead_letter, "topic.dead-letter"), take(s.topic_events, "topic.events"),
        take(s.topic_changelog, "topic.changelog"), take(s.topic_admin_requests, "topic.admin.requests"),
        take(s.topic_admin_replies, "topic.admin.replies")})
    if (!taken) return taken;
  for (const Target& target : s.targets)
    if (auto taken = take(target.topic, "topic of target " + target.name); !taken) return taken;
  if (s.on_missing == "topic" && s.on_missing_topic.empty())
    return invalid("on_missing = \"topic\" needs on_missing_topic");
  if (s.on_missing_topic.empty() || s.on_missing_topic == s.topic_dead_letter) return Done{};
  return take(s.on_missing_topic, "on_missing_topic");
}

bool is_place(const std::string& text) {
  constexpr std::string_view kHeader = "header:";
  return text == "key" || (text.starts_with(kHeader) && text.size() > kHeader.size());
}

Result<> check_place(const char* key, const std::string& text) {
  if (text.empty() || is_place(text)) return Done{};
  return invalid(std::string(key) + " = \"" + text + "\": must be key or header:NAME");
}

// Of a header that requests have. Kafka's limit is 32767 bytes; nobody means such a name.
constexpr std::size_t kHeaderNameBytesMax = 1000;

// That a producer gives it. `text`: what is said of it at the key.
Result<> check_header_name(const std::string& key, const std::string& text, const std::string& name) {
  const auto wrong = [&](const std::string& what) { return invalid(key + " = \"" + text + "\": " + what); };
  if (name.empty()) return wrong("a header without a name");
  if (name.starts_with("reseq-"))
    return wrong(name == "reseq-seq" && key == "input.sequence"
                     ? "reseq-seq is what is read anyway: leave the key out"
                     : "headers that begin with reseq- are those of the wire contract and mean what it says: the "
                       "producer needs a name of its own");
  if (name.size() > kHeaderNameBytesMax) return wrong("more than 1000 bytes");
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  if (blank(name.front()) || blank(name.back())) return wrong("a blank at an end of the name");
  if (name.find('\0') != std::string::npos) return wrong("a name is read up to its first NUL byte");
  return Done{};
}

Result<> check_input_header(const std::string& key, const std::string& text) {
  constexpr std::string_view kHeader = "header:";
  return check_header_name(key, text, text.substr(kHeader.size()));
}

constexpr std::size_t kUnchangedHeadersMax = 32;

Result<> check_unchanged(const Settings& s) {
  if (s.skip_unchanged && s.intake != "inline")
    return invalid("skip_unchanged needs intake = \"inline\": in tap the pipeline has read the request already");
  if (!s.skip_unchanged && !s.unchanged_headers.empty())
    return invalid("unchanged_headers says what counts for skip_unchanged, which is not set");
  if (s.unchanged_headers.size() > kUnchangedHeadersMax) return invalid("unchanged_headers: more than 32 names");
  std::set<std::string> names;
  for (const std::string& name : s.unchanged_headers) {
    if (auto checked = check_header_name("unchanged_headers", name, name); !checked) return checked;
    if (!names.insert(name).second) return invalid("unchanged_headers names " + name + " twice");
  }
  return Done{};
}

Result<> check_input(const Settings& s) {
  if (!is_place(s.input_id)) return invalid("input.id = \"" + s.input_id + "\": must be key or header:NAME");
  if (s.input_id != "key")
    if (auto checked = check_input_header("input.id", s.input_id); !checked) return checked;
  if (s.input_sequence.empty()) return Done{};
  if (s.input_sequence == "key" || !is_place(s.input_sequence))
    return invalid("input.sequence = \"" + s.input_sequence + "\": must be header:NAME");
  if (s.input_sequence == s.input_id) return invalid("input.id and input.sequence are the same header");
  return check_input_header("input.sequence", s.input_sequence);
}

Result<> check_observe(const Settings& s) {
  if (s.observe_id.empty()) return invalid("observe.id must be key or header:NAME");
  for (const auto& checked :
       {check_place("observe.id", s.observe_id), check_place("observe.sequence", s.observe_sequence),
        check_place("observe.output_id", s.observe_output_id),
        check_place("observe.output_sequence", s.observe_output_sequence),
        check_place("observe.target", s.observe_target)})
    if (!checked) return checked;
  if (s.observe_from != "beginning" && s.observe_from != "end" && !parse_duration_ms(s.observe_from))
    return invalid("observe.from = \"" + s.observe_from + "\": must be beginning, end, or a time as 30m, 2h, 7d");
  if (!s.observe_for.empty() && !parse_duration_ms(s.observe_for))
    return invalid("observe.for = \"" + s.observe_for + "\": must be a time as 90s, 10m, 2h");
  if (!s.observe_input_topic.empty() && s.observe_input_topic == s.observe_output_topic)
    return invalid("observe.input_topic and observe.output_topic are the same topic");
  return Done{};
}

// So that no sum with a date is too large.
constexpr std::int64_t kDispatchMsMax = std::int64_t{366} * 24 * 3600 * 1000;
constexpr std::int64_t kDispatchCountMax = 1'000'000'000;
constexpr std::int64_t kPriorityMax = 255;
constexpr std::int64_t kLaneInFlightMax = 256;     // of a document: its row is written again for each of them
constexpr std::int64_t kBreakerDocumentsMax = 32;  // a meta row keeps no more (model/breaker.h)

Result<> check_most(const char* key, std::int64_t value, std::int64_t most, const char* words = "") {
  if (value <= most) return Done{};
  return invalid(std::string(key) + " = " + std::to_string(value) + ": must be at most " + std::to_string(most) +
                 words);
}

Result<> check_dispatch(const Settings& s) {
  if (s.dispatch_mode == "journal" && s.intake != "inline")
    return invalid(
        "dispatch.mode = \"journal\" needs intake = \"inline\": with tap the pipeline reads requests itself, "
        "so none can wait");
  if (s.failures_mode == "retry" && s.intake != "inline")
    return invalid(
        "failures.mode = \"retry\" needs intake = \"inline\": with tap the pipeline reads requests itself, "
        "so none can be sent again");
  for (const auto& checked :
       {check_most("dispatch.in_flight_max", s.dispatch_in_flight_max, kDispatchCountMax),
        check_most("dispatch.default_priority", s.dispatch_default_priority, kPriorityMax),
        check_most("dispatch.idle_from_priority", s.dispatch_idle_from_priority, kPriorityMax + 1,
                   ", which is no priority"),
        check_most("dispatch.process_at_max_ms", s.dispatch_process_at_max_ms, kDispatchMsMax, ", which is 366 days"),
        check_most("dispatch.consolidate_ms", s.dispatch_consolidate_ms, s.dispatch_process_at_max_ms,
                   ", as dispatch.process_at_max_ms says"),
        check_most("dispatch.lease_ms", s.dispatch_lease_ms, kDispatchMsMax, ", which is 366 days"),
        check_most("dispatch.timeouts_max", s.dispatch_timeouts_max, kDispatchCountMax)})
    if (!checked) return checked;
  const std::int64_t longest = longest_wait_ms(s);
  if ((s.dispatch_mode == "journal" || s.failures_mode == "retry") && longest >= s.watermark_retention_ms)
    return invalid(longest_wait_text(s) + " are together " + std::to_string(longest) +
                   ": must be below watermark_retention_ms = " + std::to_string(s.watermark_retention_ms) +
                   ", because requests have to be kept longer than they wait and not longer than documents are "
                   "remembered");
  return Done{};
}

// Who may be answered by an earlier attempt, or loses a lease without a word, would have its work done twice; and who
// has no lease to lose: what a worker had begun when it died goes to another one as the same attempt.
Result<> check_effects(const Settings& s) {
  for (const Target& target : s.targets) {
    if (target.effect != "potent" || (s.dispatch_mode != "journal" && s.failures_mode != "retry")) continue;
    if (s.dispatch_mode != "journal" || s.failures_mode != "retry" || s.dispatch_attempts != "last")
      return invalid("target \"" + target.name +
                     "\" is potent: set dispatch.mode = \"journal\", dispatch.attempts = \"last\" and failures.mode = "
                     "\"retry\", so that its work is never done twice by itself");
  }
  return Done{};
}

Result<> check_failures(const Settings& s) {
  for (const auto& checked :
       {check_most("failures.retries_max", s.failures_retries_max, kDispatchCountMax),
        check_most("failures.backoff_ms", s.failures_backoff_ms, s.failures_backoff_max_ms,
                   ", as failures.backoff_max_ms says"),
        check_most("failures.backoff_max_ms", s.failures_backoff_max_ms, kDispatchMsMax, ", which is 366 days"),
        check_most("failures.repeats_max", s.failures_repeats_max, kDispatchCountMax),
        check_most("failures.breaker_documents", s.failures_breaker_documents, kBreakerDocumentsMax),
        check_most("failures.breaker_pause_ms", s.failures_breaker_pause_ms, s.failures_breaker_pause_max_ms,
                   ", as failures.breaker_pause_max_ms says"),
        check_most("failures.breaker_pause_max_ms", s.failures_breaker_pause_max_ms, kDispatchMsMax,
                   ", which is 366 days")})
    if (!checked) return checked;
  return Done{};
}

Result<> check_orders(const Settings& s) {
  for (const auto& checked :
       {check_most("orders.gap_timeout_ms", s.orders_gap_timeout_ms, kDispatchMsMax, ", which is 366 days"),
        check_most("orders.lane_in_flight_max", s.orders_lane_in_flight_max, kLaneInFlightMax)})
    if (!checked) return checked;
  for (const Target& target : s.targets) {
    if (target.order != "total") continue;
    const std::string which = "target \"" + target.name + "\" is total: ";
    if (s.dispatch_mode == "journal")
      return invalid(which +
                     "set dispatch.mode = \"immediate\", because what waits in a journal leaves in another order");
    if (s.intake == "tap")
      return invalid(which + "set intake = \"inline\", because in tap results may come before their requests are seen");
  }
  return Done{};
}

Result<> check_listen(const Settings& s) {
  if (s.http_listen.empty()) return Done{};
  if (const auto address = parse_address(s.http_listen); !address)
    return invalid("http.listen: " + address.error().message);
  return Done{};
}

}  // namespace

bool is_ordered(const Target& target) {
  return target.order == "strict" || target.order == "total";
}

std::int64_t longest_wait_ms(const Settings& settings) {
  const bool has_dates = settings.dispatch_mode == "journal";
  const std::int64_t once = (has_dates ? settings.dispatch_process_at_max_ms : 0) + settings.dispatch_lease_ms;
  if (settings.failures_mode != "retry") return once;
  std::int64_t longest = once;
  std::int64_t wait = settings.failures_backoff_ms;
  for (std::int64_t left = settings.failures_retries_max; left > 0; --left) {
    const std::int64_t more = wait + settings.dispatch_lease_ms;
    const bool stays = wait == settings.failures_backoff_max_ms;
    if (stays) return left > (INT64_MAX - longest) / more ? INT64_MAX : longest + left * more;
    longest += more;
    wait = std::min(2 * wait, settings.failures_backoff_max_ms);
  }
  return longest;
}

std::string longest_wait_text(const Settings& settings) {
  if (settings.failures_mode != "retry") return "dispatch.process_at_max_ms and dispatch.lease_ms";
  const std::string dates = settings.dispatch_mode == "journal" ? "dispatch.process_at_max_ms and, " : "";
  return dates + "of each attempt that failures may have, dispatch.lease_ms and the back-off";
}

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < 0) return std::nullopt;
  for (const auto& [unit, ms] : kUnits)
    if (unit == std::string_view(stop, static_cast<std::size_t>(end - stop)) && number <= INT64_MAX / ms)
      return number * ms;
  return std::nullopt;
}

void name_topics(Settings& settings) {
  const auto name = [&](std::string& topic, const std::string& role) {
    if (topic.empty()) topic = settings.application_id + "." + role;
  };
  name(settings.topic_requests, "requests");
  name(settings.topic_commands, "commands");
  name(settings.topic_control, "control");
  name(settings.topic_work, "work");
  name(settings.topic_dead_letter, "dead-letter");
  name(settings.topic_events, "events");
  name(settings.topic_changelog, "changelog");
  name(settings.topic_admin_requests, "admin.requests");
  name(settings.topic_admin_replies, "admin.replies");
  if (settings.observe_input_topic.empty()) settings.observe_input_topic = settings.topic_requests;
  if (settings.observe_output_topic.empty()) settings.observe_output_topic = settings.topic_commands;
  for (Target& target : settings.targets) name(target.topic, "output." + target.name);
}

Result<> check(const Settings& settings) {
  for (const auto& checked :
       {check_names(settings), check_targets(settings), check_topics(settings), check_transport(settings),
        check_listen(settings), check_input(settings), check_unchanged(settings), check_failures(settings),
        check_orders(settings), check_effects(settings), check_plan(settings), check_dispatch(settings),
        check_observe(settings)})
    if (!checked) return checked;
  return Done{};
}

}  // namespace reseq::config
