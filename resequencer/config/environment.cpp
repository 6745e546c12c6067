#include "config/environment.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <unistd.h>

#include "config/nearest.h"
#include "config/values.h"

namespace reseq::config {

namespace {

constexpr std::string_view kPrefix = "RESEQ_";
constexpr std::string_view kKafkaPrefix = "RESEQ_KAFKA_";
// Other programs may have variables with our prefix; one that is this near to ours was meant to be ours.
constexpr std::size_t kTypoEdits = 2;

Result<> set(Settings& settings, const Key<Settings>& key, const std::string& value) {
  if (key.text != nullptr) return set_text(settings, key, value);
  if (key.list != nullptr) {
    std::vector<std::string>& list = settings.*(key.list);
    list.clear();
    std::istringstream names(value);
    for (std::string name; std::getline(names, name, ',');) list.push_back(name);
    return Done{};
  }
  if (key.number != nullptr) {
    if (set_word(settings, key, value)) return Done{};
    char* end = nullptr;
    errno = 0;
    const long long parsed = std::strtoll(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || errno != 0)
      return invalid(std::string(key.name) + ": \"" + value + "\" is no number");
    return set_number(settings, key, parsed);
  }
  if (value != "true" && value != "false") return invalid(std::string(key.name) + ": must be true or false");
  settings.*(key.flag) = value == "true";
  return Done{};
}

// Properties of librdkafka have dots where a variable has underscores.
void set_kafka(Settings& settings, std::string_view variable, const std::string& value) {
  std::string name(variable.substr(kKafkaPrefix.size()));
  for (char& c : name) c = c == '_' ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::erase_if(settings.kafka, [&](const auto& property) { return property.first == name; });
  settings.kafka.emplace_back(name, value);
}

Result<> set_variable(Settings& settings, const std::string& variable, const std::string& value) {
  for (const Key<Settings>& key : keys()) {
    if (environment_name(key.name) != variable) continue;
    if (auto read = set(settings, key, value); !read) return invalid(variable + ": " + read.error().message);
    return Done{};
  }
  // The tests and script/kafka have variables of their own; none of them is a property of librdkafka.
  constexpr std::string_view kOfTheScripts[] = {"RESEQ_KAFKA_VERSION", "RESEQ_KAFKA_HEAP", "RESEQ_KAFKA_WAIT_S"};
  if (std::find(std::begin(kOfTheScripts), std::end(kOfTheScripts), variable) != std::end(kOfTheScripts)) return Done{};
  if (variable.starts_with(kKafkaPrefix)) {
    set_kafka(settings, variable, value);
    return Done{};
  }
  std::vector<std::string> known;
  for (const Key<Settings>& key : keys()) known.push_back(environment_name(key.name));
  if (const Nearest meant = nearest(variable, known); meant.edits <= kTypoEdits)
    return invalid("unknown environment variable " + variable + "; the nearest one is " + meant.word);
  return Done{};
}

}  // namespace

std::string environment_name(std::string_view key) {
  std::string name(kPrefix);
  for (const char c : key)
    name += c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Result<> read_environment(Settings& settings) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const std::size_t equals = line.find('=');
    if (!line.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    const std::string value(line.substr(equals + 1));
    if (auto read = set_variable(settings, std::string(line.substr(0, equals)), value); !read) return read;
  }
  return Done{};
}

}  // namespace reseq::config
