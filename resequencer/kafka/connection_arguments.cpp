#include "kafka/connection_arguments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "base/log.h"
#include "base/secrets.h"

namespace reseq::kafka {

namespace {

constexpr std::string_view kPrefix = "RESEQ_KAFKA_";

Error invalid(std::string text) {
  return {ErrorClass::kInvalid, 0, std::move(text)};
}

Result<> add(Properties& properties, const std::string& line, const std::string& where) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos || equals == 0) return invalid(where + ": key=value is needed");
  properties.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  if (is_secret(properties.back().first)) log::hide_secret(properties.back().second);
  return Done{};
}

Result<> add_file(Properties& properties, const std::string& path) {
  std::ifstream file(path);
  if (!file) return invalid("--property-file " + path + " cannot be read");
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();  // written on Windows
    if (line.empty() || line.front() == '#') continue;
    if (auto added = add(properties, line, path + " line " + std::to_string(number)); !added) return added;
  }
  return Done{};
}

std::string variable_of(std::string_view property) {
  std::string variable(kPrefix);
  for (const char c : property)
    variable += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

void add_environment(Properties& properties) {
  // Variables of script/kafka and the tests.
  constexpr std::array<std::string_view, 3> kOthers = {"VERSION", "HEAP", "WAIT_S"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const std::size_t equals = line.find('=');
    if (!line.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    const std::string_view variable = line.substr(kPrefix.size(), equals - kPrefix.size());
    if (std::find(kOthers.begin(), kOthers.end(), variable) != kOthers.end()) continue;
    std::string name(variable);
    for (char& c : name) c = c == '_' ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    properties.emplace_back(std::move(name), line.substr(equals + 1));
    if (is_secret(properties.back().first)) log::hide_secret(properties.back().second);
  }
}

}  // namespace

Result<Properties> read_properties(const ConnectionArguments& arguments) {
  Properties properties;
  if (!arguments.property_file.empty())
    if (auto read = add_file(properties, arguments.property_file); !read) return read.error();
  add_environment(properties);
  for (const std::string& line : arguments.properties) {
    if (auto added = add(properties, line, arguments.property_option); !added) return added.error();
    if (const std::string& name = properties.back().first; is_secret(name))
      return invalid(arguments.property_option + " " + name +
                     ": everybody on this machine can read it in the list of processes; put it into a file for "
                     "--property-file, or into the environment as " +
                     variable_of(name));
  }
  return properties;
}

Result<Connection> connection_of(const ConnectionArguments& arguments, const std::string& client_id) {
  auto properties = read_properties(arguments);
  if (!properties) return properties.error();
  return Connection{.bootstrap_servers = arguments.bootstrap_servers,
                    .client_id = client_id,
                    .librdkafka = std::move(properties).value()};
}

}  // namespace reseq::kafka
