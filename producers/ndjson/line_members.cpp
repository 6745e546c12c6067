#include "producers/ndjson/line_members.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "codec/base64.h"

namespace reseq::ndjson {
namespace {

using nlohmann::json;

std::string printable(std::string name) {
  name = name.substr(0, 40);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace

Result<LineMembers> LineMembers::read(std::string_view text, std::span<const std::string_view> names) {
  if (!json::accept(text)) return bad_line("not valid JSON");
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (text[first] != '{') return bad_line("not a JSON object");
  LineMembers line;
  for (Member& member : members_of(text)) {
    if (std::find(names.begin(), names.end(), member.name) == names.end())
      return bad_line("unknown member '" + printable(member.name) + "'");
    if (line.has(member.name)) return bad_line("member '" + member.name + "' comes twice");
    line.members_.push_back(std::move(member));
  }
  return line;
}

const std::string_view* LineMembers::find(std::string_view name) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [name](const Member& member) { return member.name == name; });
  return found == members_.end() ? nullptr : &found->value;
}

std::optional<std::string> as_text(std::string_view value) {
  if (!value.starts_with('"')) return std::nullopt;
  return json::parse(value).get<std::string>();
}

std::optional<std::string> as_bytes(std::string_view value) {
  const auto text = as_text(value);
  return text.has_value() ? codec::parse_base64(*text) : std::nullopt;
}

std::optional<std::vector<std::string>> as_texts(std::string_view value) {
  const json list = json::parse(value);
  const bool texts = list.is_array() && !list.empty() &&
                     std::all_of(list.begin(), list.end(), [](const json& name) { return name.is_string(); });
  if (!texts) return std::nullopt;
  return list.get<std::vector<std::string>>();
}

Result<std::optional<std::string>> payload_of(const LineMembers& line) {
  const std::string_view* plain = line.find("payload");
  const std::string_view* encoded = line.find("payload_base64");
  if (plain != nullptr && encoded != nullptr) return bad_line("has both 'payload' and 'payload_base64'");
  if (encoded != nullptr) {
    std::optional<std::string> bytes = as_bytes(*encoded);
    if (!bytes) return bad_line("'payload_base64' is not base64");
    return bytes;
  }
  if (plain == nullptr || *plain == "null") return std::optional<std::string>();
  std::optional<std::string> text = as_text(*plain);
  return text ? std::move(text) : std::optional<std::string>(*plain);
}

}  // namespace reseq::ndjson
