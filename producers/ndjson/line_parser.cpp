#include "producers/ndjson/line_parser.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "producers/ndjson/base64.h"
#include "producers/ndjson/object_members.h"

namespace reseq::ndjson {
namespace {

using nlohmann::json;
using tagging::Change;

constexpr std::array<std::string_view, 8> kNames = {"id",      "id_base64",      "seq",     "op",
                                                    "payload", "payload_base64", "targets", "epoch"};

Error bad(std::string why) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(why)};
}

// The members of one line by name.
class Line {
 public:
  [[nodiscard]] static Result<Line> read(std::string_view text) {
    if (!json::accept(text)) return bad("not valid JSON");
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (text[first] != '{') return bad("not a JSON object");
    Line line;
    for (Member& member : members_of(text)) {
      if (std::find(kNames.begin(), kNames.end(), member.name) == kNames.end())
        return bad("unknown member '" + printable(member.name) + "'");
      if (line.find(member.name) != nullptr) return bad("member '" + member.name + "' comes twice");
      line.members_.push_back(std::move(member));
    }
    return line;
  }

  // Null when the line has no such member.
  [[nodiscard]] const std::string_view* find(std::string_view name) const {
    const auto found =
        std::find_if(members_.begin(), members_.end(), [name](const Member& member) { return member.name == name; });
    return found == members_.end() ? nullptr : &found->value;
  }

 private:
  static std::string printable(std::string name) {
    name = name.substr(0, 40);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return name;
  }

  std::vector<Member> members_;
};

std::optional<std::string> as_text(std::string_view value) {
  if (!value.starts_with('"')) return std::nullopt;
  return json::parse(value).get<std::string>();
}

std::optional<std::string> as_bytes(std::string_view value) {
  const auto text = as_text(value);
  return text.has_value() ? from_base64(*text) : std::nullopt;
}

Result<> read_id(const Line& line, Change& change) {
  const std::string_view* plain = line.find("id");
  const std::string_view* encoded = line.find("id_base64");
  if ((plain == nullptr) == (encoded == nullptr)) return bad("needs one of 'id' and 'id_base64'");
  std::optional<std::string> id = plain != nullptr ? as_text(*plain) : as_bytes(*encoded);
  if (!id.has_value()) return bad(plain != nullptr ? "'id' is not text" : "'id_base64' is not base64");
  change.id = std::move(*id);
  return Done{};
}

Result<> read_sequence(const Line& line, Change& change) {
  const std::string_view* value = line.find("seq");
  if (value == nullptr) return bad("needs 'seq'");
  if (std::optional<std::string> text = as_text(*value)) {
    change.sequence = std::move(*text);
    return Done{};
  }
  const json number = json::parse(*value);
  if (!number.is_number_unsigned()) return bad("'seq' is neither text nor a whole number from 0 to 2^64-1");
  change.sequence = number.get<std::uint64_t>();
  return Done{};
}

Result<> read_payload(const Line& line, Change& change) {
  const std::string_view* plain = line.find("payload");
  const std::string_view* encoded = line.find("payload_base64");
  if (plain != nullptr && encoded != nullptr) return bad("has both 'payload' and 'payload_base64'");
  if (encoded != nullptr) {
    change.payload = as_bytes(*encoded);
    if (!change.payload.has_value()) return bad("'payload_base64' is not base64");
  } else if (plain != nullptr && *plain != "null") {
    std::optional<std::string> text = as_text(*plain);
    change.payload = text.has_value() ? std::move(*text) : std::string(*plain);
  }
  return Done{};
}

// REQUIRES: the payload was read.
Result<> read_op(const Line& line, Change& change) {
  const std::string_view* value = line.find("op");
  if (value == nullptr) {
    if (!change.payload.has_value() && line.find("payload") == nullptr) return bad("needs 'payload' or 'op': 'delete'");
    change.op = change.payload.has_value() ? Op::kUpsert : Op::kDelete;
    return Done{};
  }
  const std::optional<std::string> op = as_text(*value);
  if (op != "upsert" && op != "delete") return bad("'op' is neither 'upsert' nor 'delete'");
  change.op = *op == "upsert" ? Op::kUpsert : Op::kDelete;
  return Done{};
}

Result<> read_targets(const Line& line, Change& change) {
  const std::string_view* value = line.find("targets");
  if (value == nullptr) return Done{};
  const json list = json::parse(*value);
  const bool texts = list.is_array() && !list.empty() &&
                     std::all_of(list.begin(), list.end(), [](const json& name) { return name.is_string(); });
  if (!texts) return bad("'targets' is not a list of at least one name");
  change.targets = list.get<std::vector<std::string>>();
  return Done{};
}

Result<> read_epoch(const Line& line, Change& change) {
  const std::string_view* value = line.find("epoch");
  if (value == nullptr) return Done{};
  const json number = json::parse(*value);
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
    return bad("'epoch' is not a whole number from 0 to 2^32-1");
  change.epoch = Epoch(number.get<std::uint32_t>());
  return Done{};
}

}  // namespace

Result<Change> parse_line(std::string_view line) {
  const Result<Line> members = Line::read(line);
  if (!members.ok()) return members.error();
  Change change;
  for (const auto read : {read_id, read_sequence, read_payload, read_op, read_targets, read_epoch}) {
    Result<> done = read(members.value(), change);
    if (!done.ok()) return done.error();
  }
  return change;
}

}  // namespace reseq::ndjson
