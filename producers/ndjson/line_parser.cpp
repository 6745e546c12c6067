#include "producers/ndjson/line_parser.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "producers/ndjson/line_members.h"

namespace reseq::ndjson {
namespace {

using nlohmann::json;
using tagging::Change;

constexpr std::array<std::string_view, 11> kNames = {"id",       "id_base64",      "seq",       "op",
                                                     "payload",  "payload_base64", "targets",   "epoch",
                                                     "priority", "process_at",     "expires_at"};

Result<> read_id(const LineMembers& line, Change& change) {
  const std::string_view* plain = line.find("id");
  const std::string_view* encoded = line.find("id_base64");
  if ((plain == nullptr) == (encoded == nullptr)) return bad_line("needs one of 'id' and 'id_base64'");
  std::optional<std::string> id = plain != nullptr ? as_text(*plain) : as_bytes(*encoded);
  if (!id.has_value()) return bad_line(plain != nullptr ? "'id' is not text" : "'id_base64' is not base64");
  change.id = std::move(*id);
  return Done{};
}

Result<> read_sequence(const LineMembers& line, Change& change) {
  const std::string_view* value = line.find("seq");
  if (value == nullptr) return bad_line("needs 'seq'");
  if (std::optional<std::string> text = as_text(*value)) {
    change.sequence = std::move(*text);
    return Done{};
  }
  const json number = json::parse(*value);
  if (!number.is_number_unsigned()) return bad_line("'seq' is neither text nor a whole number from 0 to 2^64-1");
  change.sequence = number.get<std::uint64_t>();
  return Done{};
}

Result<> read_payload(const LineMembers& line, Change& change) {
  Result<std::optional<std::string>> payload = payload_of(line);
  if (!payload) return payload.error();
  change.payload = std::move(payload).value();
  return Done{};
}

// REQUIRES: the payload was read.
Result<> read_op(const LineMembers& line, Change& change) {
  const std::string_view* value = line.find("op");
  if (value == nullptr) {
    if (!change.payload.has_value() && line.find("payload") == nullptr)
      return bad_line("needs 'payload' or 'op': 'delete'");
    change.op = change.payload.has_value() ? Op::kUpsert : Op::kDelete;
    return Done{};
  }
  const std::optional<std::string> op = as_text(*value);
  if (op != "upsert" && op != "delete") return bad_line("'op' is neither 'upsert' nor 'delete'");
  change.op = *op == "upsert" ? Op::kUpsert : Op::kDelete;
  return Done{};
}

Result<> read_targets(const LineMembers& line, Change& change) {
  const std::string_view* value = line.find("targets");
  if (value == nullptr) return Done{};
  std::optional<std::vector<std::string>> texts = as_texts(*value);
  if (!texts) return bad_line("'targets' is not a list of at least one name");
  change.targets = std::move(*texts);
  return Done{};
}

Result<> read_epoch(const LineMembers& line, Change& change) {
  const std::string_view* value = line.find("epoch");
  if (value == nullptr) return Done{};
  const json number = json::parse(*value);
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
    return bad_line("'epoch' is not a whole number from 0 to 2^32-1");
  change.epoch = Epoch(number.get<std::uint32_t>());
  return Done{};
}

// The tagger says whether it is one.
Result<> read_date(const LineMembers& line, const char* name, std::string& date) {
  const std::string_view* value = line.find(name);
  if (value == nullptr) return Done{};
  if (std::optional<std::string> text = as_text(*value); text && !text->empty()) {
    date = std::move(*text);
    return Done{};
  }
  const json number = json::parse(*value);
  if (!number.is_number_unsigned())
    return bad_line("'" + std::string(name) + "' is neither a date as text nor milliseconds since 1970");
  date = std::to_string(number.get<std::uint64_t>());
  return Done{};
}

Result<> read_turn(const LineMembers& line, Change& change) {
  if (const std::string_view* value = line.find("priority")) {
    const json number = json::parse(*value);
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > std::numeric_limits<std::uint8_t>::max())
      return bad_line("'priority' is not a whole number from 0 to 255");
    change.turn.priority = number.get<std::uint8_t>();
  }
  if (auto read = read_date(line, "process_at", change.turn.process_at); !read) return read;
  return read_date(line, "expires_at", change.turn.expires_at);
}

}  // namespace

Result<Change> parse_line(std::string_view line) {
  const Result<LineMembers> members = LineMembers::read(line, kNames);
  if (!members.ok()) return members.error();
  Change change;
  for (const auto read : {read_id, read_sequence, read_payload, read_op, read_targets, read_epoch, read_turn}) {
    Result<> done = read(members.value(), change);
    if (!done.ok()) return done.error();
  }
  return change;
}

}  // namespace reseq::ndjson
