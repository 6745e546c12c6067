// Reads the configuration: the TOML file, then overrides from the environment, then the checks between keys.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>
#include <toml++/toml.h>

#include "config/settings.h"

namespace reseq::config {

namespace {

Error invalid(std::string message) {
  return {ErrorClass::kInvalid, 0, std::move(message)};
}

// Edits to turn one word into another; the unknown key's nearest relative is named in the error.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

template <typename Names>
std::string nearest(std::string_view name, const Names& names) {
  std::string best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : names) {
    const std::size_t d = distance(name, candidate);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

std::string nearest_key(std::string_view name) {
  std::vector<std::string_view> names = {"target", "route", "kafka"};
  for (const Key& key : keys()) names.emplace_back(key.name);
  return nearest(name, names);
}

bool is_choice(std::string_view allowed, std::string_view value) {
  std::istringstream choices{std::string(allowed)};
  for (std::string choice; std::getline(choices, choice, '|');)
    if (choice == value) return true;
  return false;
}

Result<> set_text(Settings& settings, const Key& key, std::string value) {
  if (*key.allowed != '\0' && !is_choice(key.allowed, value))
    return invalid(std::string(key.name) + " = \"" + value + "\": must be one of " + key.allowed);
  settings.*(key.text) = std::move(value);
  return Done{};
}

Result<> set_number(Settings& settings, const Key& key, std::int64_t value) {
  if (value < key.minimum)
    return invalid(std::string(key.name) + " = " + std::to_string(value) + ": must be at least " +
                   std::to_string(key.minimum));
  settings.*(key.number) = value;
  return Done{};
}

Result<> set_from_node(Settings& settings, const Key& key, const toml::node& node) {
  switch (key.type) {
    case Key::Type::kText:
      if (const auto value = node.value_exact<std::string>()) return set_text(settings, key, *value);
      return invalid(std::string(key.name) + ": must be a text in quotes");
    case Key::Type::kNumber:
      if (const auto value = node.value_exact<std::int64_t>()) return set_number(settings, key, *value);
      return invalid(std::string(key.name) + ": must be a whole number");
    case Key::Type::kFlag:
      if (const auto value = node.value_exact<bool>()) {
        settings.*(key.flag) = *value;
        return Done{};
      }
      return invalid(std::string(key.name) + ": must be true or false");
  }
  return Done{};
}

Result<> set_from_environment(Settings& settings, const Key& key, const std::string& value) {
  switch (key.type) {
    case Key::Type::kText:
      return set_text(settings, key, value);
    case Key::Type::kNumber: {
      char* end = nullptr;
      errno = 0;
      const long long parsed = std::strtoll(value.c_str(), &end, 10);
      if (value.empty() || *end != '\0' || errno != 0)
        return invalid(std::string(key.name) + ": \"" + value + "\" is no number");
      return set_number(settings, key, parsed);
    }
    case Key::Type::kFlag:
      if (value != "true" && value != "false") return invalid(std::string(key.name) + ": must be true or false");
      settings.*(key.flag) = value == "true";
      return Done{};
  }
  return Done{};
}

std::string environment_name(std::string_view key) {
  std::string name = "RESEQ_";
  for (const char c : key)
    name += c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// Dotted keys of TOML are nested tables: application.id = [application] id.
Result<> read_table(Settings& settings, const toml::table& table, const std::string& prefix) {
  for (const auto& [name, node] : table) {
    const std::string full = prefix + std::string(name.str());
    if (prefix.empty() && (full == "target" || full == "route" || full == "kafka")) continue;
    const auto& all = keys();
    const auto key = std::find_if(all.begin(), all.end(), [&](const Key& k) { return full == k.name; });
    Result<> read = Done{};
    if (key != all.end()) {
      read = set_from_node(settings, *key, node);
    } else if (node.is_table()) {
      read = read_table(settings, *node.as_table(), full + ".");
    } else {
      return invalid("unknown key " + full + "; the nearest one is " + nearest_key(full));
    }
    if (!read) return read;
  }
  return Done{};
}

Result<> unknown_in(const toml::table& table, const std::set<std::string_view>& known, const char* what) {
  for (const auto& [name, node] : table)
    if (!known.contains(name.str()))
      return invalid(std::string("unknown key ") + std::string(name.str()) + " in [[" + what +
                     "]]; the nearest one is " + nearest(name.str(), known));
  return Done{};
}

Result<> read_targets(Settings& settings, const toml::table& root) {
  const toml::array* array = root["target"].as_array();
  if (root.contains("target") && array == nullptr) return invalid("target: write [[target]] with double brackets");
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const toml::table* table = array->get(i)->as_table();
    if (table == nullptr) return invalid("target: write [[target]] with double brackets");
    if (auto known = unknown_in(*table, {"name", "topic", "monotonic", "optional"}, "target"); !known) return known;
    Target target;
    target.name = (*table)["name"].value_or(std::string());
    target.topic = (*table)["topic"].value_or(std::string());
    target.monotonic = (*table)["monotonic"].value_or(false);
    target.optional = (*table)["optional"].value_or(false);
    if (target.name.empty()) return invalid("[[target]] without a name");
    settings.targets.push_back(std::move(target));
  }
  return Done{};
}

Result<> read_routes(Settings& settings, const toml::table& root) {
  const toml::array* array = root["route"].as_array();
  if (root.contains("route") && array == nullptr) return invalid("route: write [[route]] with double brackets");
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const toml::table* table = array->get(i)->as_table();
    if (table == nullptr) return invalid("route: write [[route]] with double brackets");
    if (auto known = unknown_in(*table, {"id_prefix", "id_glob", "header", "header_value", "targets"}, "route"); !known)
      return known;
    Route route;
    route.id_prefix = (*table)["id_prefix"].value_or(std::string());
    route.id_glob = (*table)["id_glob"].value_or(std::string());
    route.header = (*table)["header"].value_or(std::string());
    route.header_value = (*table)["header_value"].value_or(std::string());
    if (const toml::array* names = (*table)["targets"].as_array())
      for (const auto& name : *names) route.targets.push_back(name.value_or(std::string()));
    if (route.targets.empty()) return invalid("[[route]] without targets");
    settings.routes.push_back(std::move(route));
  }
  return Done{};
}

void flatten(const toml::table& table, const std::string& prefix, Settings& settings) {
  for (const auto& [name, node] : table) {
    const std::string full = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, full + ".", settings);
    } else if (const auto text = node.value<std::string>()) {
      settings.kafka.emplace_back(full, *text);
    } else if (const auto number = node.value_exact<std::int64_t>()) {
      settings.kafka.emplace_back(full, std::to_string(*number));
    } else if (const auto flag = node.value_exact<bool>()) {
      settings.kafka.emplace_back(full, *flag ? "true" : "false");
    }
  }
}

Result<> read_environment(Settings& settings) {
  for (const Key& key : keys()) {
    const std::string name = environment_name(key.name);
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): before any thread is started
    if (value == nullptr) continue;
    if (auto set = set_from_environment(settings, key, value); !set) return invalid(name + ": " + set.error().message);
  }
  return Done{};
}

// What `reseq-targets` can carry, and what may stand in a topic name.
bool is_target_name(const std::string& name) {
  constexpr std::size_t kBytesMax = 100;
  return !name.empty() && name.size() <= kBytesMax && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

bool is_folder_name(const std::string& name) {
  return name != "." && name != ".." && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

Result<> check(const Settings& s) {
  if (s.application_id.empty()) return invalid("application.id is missing");
  if (s.bootstrap_servers.empty()) return invalid("bootstrap.servers is missing");
  if (s.instance_id.empty()) return invalid("instance.id must not be empty");
  if (!is_folder_name(s.application_id) || !is_folder_name(s.instance_id))
    return invalid("application.id and instance.id name folders below state.dir: no slash, and not . or ..");
  if (s.state_dir.empty()) return invalid("state.dir must not be empty");
  if (s.targets.empty()) return invalid("no [[target]]: name at least one, as [[target]] name = \"search\"");
  if (s.targets.size() > 64) return invalid("more than 64 targets");
  std::set<std::string> names;
  for (const Target& target : s.targets)
    if (!is_target_name(target.name))
      return invalid("target \"" + target.name + "\": at most 100 letters, digits, dots, underscores and dashes");
  for (const Target& target : s.targets)
    if (!names.insert(target.name).second) return invalid("target " + target.name + " is named twice");
  for (const Route& route : s.routes)
    for (const std::string& name : route.targets)
      if (!names.contains(name))
        return invalid("[[route]] names target " + name + ", which no [[target]] has; the nearest one is " +
                       nearest(name, names));
  if (s.on_missing == "topic" && s.on_missing_topic.empty())
    return invalid("on_missing = \"topic\" needs on_missing_topic");
  return Done{};
}

}  // namespace

Result<Settings> parse(const std::string& toml_text, const std::string& source_name) {
  Settings settings;
  toml::table root;
  try {
    root = toml::parse(toml_text, source_name);
  } catch (const toml::parse_error& error) {
    return invalid(source_name + ":" + std::to_string(error.source().begin.line) + ": " +
                   std::string(error.description()));
  }
  if (const toml::table* kafka = root["kafka"].as_table()) flatten(*kafka, "", settings);
  for (const auto& read : {read_table(settings, root, ""), read_targets(settings, root), read_routes(settings, root),
                           read_environment(settings), check(settings)})
    if (!read) return invalid(source_name + ": " + read.error().message);
  return settings;
}

Result<Settings> load(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return invalid("cannot open the configuration file " + path);
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  std::fclose(file);
  return parse(text, path);
}

}  // namespace reseq::config
