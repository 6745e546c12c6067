#include "base/json_lines.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace reseq::log {
namespace {

using Json = nlohmann::ordered_json;

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// From behind the quote up to the one that ends it; `at` is behind that then. \" and \\ are taken for what they stand
// for.
std::string quoted(std::string_view text, std::size_t& at) {
  std::string value;
  for (; at < text.size() && text[at] != '"'; ++at) {
    const bool escaped = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    if (escaped) ++at;
    value += text[at];
  }
  if (at < text.size()) ++at;
  return value;
}

Json fields_of(std::string_view text) {
  Json fields = Json::object();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && is_of_name(text[at])) ++at;
    if (at > begin && at < text.size() && text[at] == '=') {
      const std::string name(text.substr(begin, at - begin));
      ++at;
      if (at < text.size() && text[at] == '"') {
        fields[name] = quoted(text, ++at);
      } else {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        fields[name] = std::string(text.substr(at, end - at));
        at = end;
      }
    }
    at = std::min(text.find(' ', at), text.size());  // what is left of this word
    if (at < text.size()) ++at;
  }
  return fields;
}

std::string ascii(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

JsonLines::JsonLines()
    : head_(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":)", spdlog::pattern_time_type::local, "") {}

void JsonLines::format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) {
  head_.format(line, out);
  const std::string_view text(line.payload.data(), line.payload.size());
  std::string rest = ascii(Json(std::string(text)));
  if (const Json fields = fields_of(text); !fields.empty()) rest += ",\"fields\":" + ascii(fields);
  rest += "}\n";
  out.append(rest.data(), rest.data() + rest.size());
}

std::unique_ptr<spdlog::formatter> JsonLines::clone() const {
  return std::make_unique<JsonLines>();
}

}  // namespace reseq::log
