#include "consumers/remote/properties.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "base/log.h"

namespace reseq::remote {
namespace {

Error invalid(std::string text) {
  return {ErrorClass::kInvalid, 0, std::move(text)};
}

bool is_secret(const std::string& name) {
  return name.find("password") != std::string::npos || name.find("secret") != std::string::npos ||
         name == "ssl.key.pem" || name == "sasl.oauthbearer.config";
}

Result<std::pair<std::string, std::string>> parse_line(const std::string& line, const std::string& where) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos || equals == 0) return invalid(where + ": key=value is needed");
  return std::pair(line.substr(0, equals), line.substr(equals + 1));
}

}  // namespace

Result<kafka::Properties> parse_properties(const std::vector<std::string>& lines) {
  kafka::Properties properties;
  for (const std::string& line : lines) {
    auto property = parse_line(line, "--property");
    if (!property) return property.error();
    const std::string& name = property.value().first;
    if (is_secret(name))
      return invalid("--property " + name +
                     ": everybody on this machine can read it in the list of processes; "
                     "put it into a file for --property-file");
    properties.push_back(std::move(property).value());
  }
  return properties;
}

Result<kafka::Properties> read_property_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return invalid("--property-file " + path + " cannot be read");
  kafka::Properties properties;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    auto property = parse_line(line, path + " line " + std::to_string(number));
    if (!property) return property.error();
    if (is_secret(property.value().first)) log::hide_secret(property.value().second);
    properties.push_back(std::move(property).value());
  }
  return properties;
}

Result<std::string> read_secret_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return invalid("the file " + path + " cannot be read, or is empty");
  log::hide_secret(line);
  return line;
}

kafka::Properties environment_properties() {
  constexpr std::string_view kPrefix = "RESEQ_KAFKA_";
  // Variables of script/kafka and the tests.
  constexpr std::array<std::string_view, 3> kOthers = {"VERSION", "HEAP", "WAIT_S"};
  kafka::Properties properties;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const std::size_t equals = line.find('=');
    if (!line.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    const std::string_view variable = line.substr(kPrefix.size(), equals - kPrefix.size());
    if (std::find(kOthers.begin(), kOthers.end(), variable) != kOthers.end()) continue;
    std::string name(variable);
    for (char& c : name) c = c == '_' ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::string value(line.substr(equals + 1));
    if (is_secret(name)) log::hide_secret(value);
    properties.emplace_back(std::move(name), value);
  }
  return properties;
}

}  // namespace reseq::remote
