#include "config/rules.h"

#include <algorithm>
#include <map>
#include <set>

#include "config/address.h"
#include "config/nearest.h"
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

Result<> check_listen(const Settings& s) {
  if (s.http_listen.empty()) return Done{};
  if (const auto address = parse_address(s.http_listen); !address)
    return invalid("http.listen: " + address.error().message);
  return Done{};
}

}  // namespace

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
  for (Target& target : settings.targets) name(target.topic, "output." + target.name);
}

Result<> check(const Settings& settings) {
  for (const auto& checked : {check_names(settings), check_targets(settings), check_topics(settings),
                              check_transport(settings), check_listen(settings)})
    if (!checked) return checked;
  return Done{};
}

}  // namespace reseq::config
