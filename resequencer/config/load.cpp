// Reads the configuration: the TOML file, then overrides from the environment, then the checks between keys.
#include <algorithm>
#include <cstdio>
#include <toml++/toml.h>

#include "base/reserved_names.h"
#include "config/environment.h"
#include "config/nearest.h"
#include "config/rules.h"
#include "config/settings.h"
#include "config/values.h"

namespace reseq::config {

namespace {

// Tables of the file that are no keys of Settings.
constexpr const char* kTables[] = {"target", "route", "step", "kafka"};

template <typename Owner>
std::vector<std::string> names_of(const std::vector<Key<Owner>>& all) {
  std::vector<std::string> names;
  for (const Key<Owner>& key : all) names.emplace_back(key.name);
  return names;
}

template <typename Owner>
const Key<Owner>* find(const std::vector<Key<Owner>>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Key<Owner>& key) { return name == key.name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_table_of_its_own(std::string_view name) {
  return std::find(std::begin(kTables), std::end(kTables), name) != std::end(kTables);
}

Error unknown_key(const std::string& name) {
  std::vector<std::string> known = names_of(keys());
  known.insert(known.end(), std::begin(kTables), std::end(kTables));
  const Nearest meant = nearest(name, known);
  if (meant.edits > name.size() / 2)
    return invalid("unknown key " + name + "; `resequencer config reference` lists all of them");
  return invalid("unknown key " + name + "; the nearest one is " + meant.word);
}

Error reserved_key(const std::string& name) {
  return invalid("key " + name + " is reserved for later: this version does not have it");
}

// Dotted keys of TOML are nested tables: application.id = [application] id.
Result<> read_table(Settings& settings, const toml::table& table, const std::string& prefix) {
  for (const auto& [name, node] : table) {
    const std::string full = prefix + std::string(name.str());
    if (prefix.empty() && is_table_of_its_own(full)) continue;
    if (prefix.empty() && reserved::has(reserved::kKeys, full)) return reserved_key(full);
    const Key<Settings>* key = find(keys(), full);
    if (key == nullptr && !node.is_table()) return unknown_key(full);
    auto read =
        key != nullptr ? set_from_node(settings, *key, node) : read_table(settings, *node.as_table(), full + ".");
    if (!read) return read;
  }
  return Done{};
}

// [[target]], [[route]], [[step]]
template <typename Owner>
Result<> read_array(std::vector<Owner>& out, const toml::table& root, const char* what,
                    const std::vector<Key<Owner>>& known) {
  if (!root.contains(what)) return Done{};
  const std::string brackets = std::string("[[") + what + "]]";
  const Error wrong = invalid(std::string(what) + ": write " + brackets + " with double brackets");
  const toml::array* array = root[what].as_array();
  if (array == nullptr) return wrong;
  for (const toml::node& one : *array) {
    const toml::table* table = one.as_table();
    if (table == nullptr) return wrong;
    Owner& made = out.emplace_back();
    for (const auto& [name, node] : *table) {
      const Key<Owner>* key = find(known, name.str());
      if (key == nullptr)
        return invalid("unknown key " + std::string(name.str()) + " in " + brackets + "; the nearest one is " +
                       nearest(name.str(), names_of(known)).word);
      if (auto read = set_from_node(made, *key, node); !read) return invalid(brackets + " " + read.error().message);
    }
  }
  return Done{};
}

Result<> read_kafka(Settings& settings, const toml::table& table, const std::string& prefix) {
  for (const auto& [name, node] : table) {
    const std::string full = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table()) {
      if (auto read = read_kafka(settings, *inner, full + "."); !read) return read;
    } else if (const auto text = node.value_exact<std::string>()) {
      settings.kafka.emplace_back(full, *text);
    } else if (const auto number = node.value_exact<std::int64_t>()) {
      settings.kafka.emplace_back(full, std::to_string(*number));
    } else if (const auto flag = node.value_exact<bool>()) {
      settings.kafka.emplace_back(full, *flag ? "true" : "false");
    } else {
      return invalid("[kafka] " + full + ": must be a text, a whole number, true or false");
    }
  }
  return Done{};
}

Result<> read_kafka(Settings& settings, const toml::table& root) {
  if (!root.contains("kafka")) return Done{};
  const toml::table* table = root["kafka"].as_table();
  if (table == nullptr) return invalid("kafka: write [kafka] with properties of librdkafka below it");
  return read_kafka(settings, *table, "");
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
  for (const auto& read :
       {read_table(settings, root, ""), read_array(settings.targets, root, "target", target_keys()),
        read_array(settings.routes, root, "route", route_keys()), read_array(settings.steps, root, "step", step_keys()),
        read_kafka(settings, root), read_environment(settings)})
    if (!read) return invalid(source_name + ": " + read.error().message);
  name_topics(settings);
  if (auto checked = check(settings); !checked) return invalid(source_name + ": " + checked.error().message);
  return settings;
}

Result<Settings> from_environment() {
  Settings settings;
  if (auto read = read_environment(settings); !read) return read.error();
  return settings;
}

Result<Settings> load(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return invalid("cannot open the configuration file " + path);
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return invalid("cannot read the configuration file " + path);
  return parse(text, path);
}

}  // namespace reseq::config
