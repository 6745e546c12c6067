#include "consumers/lines/result_line.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "codec/base64.h"
#include "codec/failure_words.h"
#include "producers/ndjson/line_members.h"

namespace reseq::lines {
namespace {

using ndjson::LineMembers;
using nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kOfFail = {"failure", "failure_scope", "error", "effect"};
constexpr std::array<std::string_view, 18> kNames = {
    "ticket",   "id",       "id_base64", "seq",     "seq_base64", "epoch",          "targets",
    "op",       "payload",  "command",   "headers", "done",       "payload_base64", "headers_base64",
    kOfFail[0], kOfFail[1], kOfFail[2],  kOfFail[3]};

Error bad(std::string why) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(why)};
}

Result<> read_ticket(const LineMembers& line, ResultLine& result) {
  const std::string_view* value = line.find("ticket");
  std::optional<std::string> text = value == nullptr ? std::nullopt : ndjson::as_text(*value);
  if (!text) return bad("needs 'ticket', the text that came with the work");
  result.ticket = std::move(*text);
  return Done{};
}

Result<> read_command(const LineMembers& line, ResultLine& result) {
  if (const std::string_view* value = line.find("command")) {
    const std::optional<std::string> name = ndjson::as_text(*value);
    if (name == "sequence") {
      result.answer = stage::Answer::kSequence;
    } else if (name == "unregister") {
      result.answer = stage::Answer::kUnregister;
    } else if (name == "register") {
      result.answer = stage::Answer::kRegister;
    } else if (name == "fail") {
      result.answer = stage::Answer::kFail;
    } else {
      return bad("'command' is none of 'sequence', 'unregister', 'register' and 'fail'");
    }
  } else if (line.has("payload") || line.has("payload_base64") || line.has("op")) {
    result.answer = stage::Answer::kSequence;
  }
  return Done{};
}

// REQUIRES: the command was read.
Result<> read_failure(const LineMembers& line, ResultLine& result) {
  const auto text_of = [&](std::string_view name) -> std::optional<std::string> {
    const std::string_view* value = line.find(name);
    return value == nullptr ? std::nullopt : ndjson::as_text(*value);
  };
  for (const std::string_view name : kOfFail)
    if (line.has(name) && result.answer != stage::Answer::kFail)
      return bad("'" + std::string(name) + "' is for the command 'fail'");
  stage::WorkFailure& failure = result.failure;
  if (line.has(kOfFail[0])) {
    const auto kind = codec::failure_kind(text_of(kOfFail[0]).value_or(""));
    if (!kind) return bad("'failure' is none of 'transient', 'permanent' and 'unknown'");
    failure.kind = *kind;
  }
  if (line.has(kOfFail[1])) {
    const auto scope = codec::failure_scope(text_of(kOfFail[1]).value_or(""));
    if (!scope) return bad("'failure_scope' is neither 'document' nor 'universal'");
    failure.scope = *scope;
  }
  std::optional<std::string> error = text_of(kOfFail[2]);
  if (line.has(kOfFail[2]) && !error) return bad("'error' is not a text");
  failure.error = std::move(error).value_or("");
  failure.without_effect = text_of(kOfFail[3]) == "none";
  if (line.has(kOfFail[3]) && !failure.without_effect) return bad("'effect' is not 'none'");
  return Done{};
}

Result<> read_done(const LineMembers& line, ResultLine& result) {
  const std::string_view* value = line.find("done");
  if (value == nullptr)
    return result.answer ? Result<>(Done{}) : Result<>(bad("needs 'payload', 'op', 'command' or 'done'"));
  if (*value != "true" && *value != "false") return bad("'done' is neither true nor false");
  result.done = *value == "true";
  return Done{};
}

Result<> read_targets(const LineMembers& line, ResultLine& result) {
  const std::string_view* value = line.find("targets");
  if (value == nullptr) {
    if (result.answer == stage::Answer::kRegister) return bad("'register' needs 'targets'");
    return Done{};
  }
  std::optional<std::vector<std::string>> texts = ndjson::as_texts(*value);
  if (!texts) return bad("'targets' is not a list of at least one name");
  result.targets = std::move(*texts);
  return Done{};
}

Result<> read_op(const LineMembers& line, ResultLine& result) {
  const std::string_view* value = line.find("op");
  if (value == nullptr) return Done{};
  const std::optional<std::string> op = ndjson::as_text(*value);
  if (op != "upsert" && op != "delete") return bad("'op' is neither 'upsert' nor 'delete'");
  result.op = *op == "upsert" ? Op::kUpsert : Op::kDelete;
  return Done{};
}

// REQUIRES: command and op were read.
Result<> read_payload(const LineMembers& line, ResultLine& result) {
  Result<std::optional<std::string>> payload = ndjson::payload_of(line);
  if (!payload) return payload.error();
  if (result.answer != stage::Answer::kSequence) return Done{};
  result.payload = std::move(payload).value();
  if (!result.op) {
    result.op = result.payload ? Op::kUpsert : Op::kDelete;
    if (!result.payload && !line.has("payload")) return bad("needs 'payload' or 'op': 'delete'");
  }
  if (*result.op == Op::kUpsert && !result.payload) return bad("'op' is 'upsert', but there is no payload");
  if (*result.op == Op::kDelete) result.payload.reset();
  return Done{};
}

Result<> add_headers(const LineMembers& line, const char* member, bool encoded, ResultLine& result) {
  const std::string_view* value = line.find(member);
  if (value == nullptr) return Done{};
  const std::string name(member);
  const ordered_json headers = ordered_json::parse(*value);
  if (!headers.is_object()) return bad("'" + name + "' is not an object");
  for (const auto& [key, text] : headers.items()) {
    if (!text.is_string() && (encoded || !text.is_null())) return bad("a value of '" + name + "' is not text");
    if (key.starts_with("reseq-") && key != "reseq-observed-version") continue;
    std::optional<std::string> bytes;
    if (text.is_string()) bytes = text.get<std::string>();
    if (encoded && !(bytes = codec::parse_base64(*bytes))) return bad("a value of '" + name + "' is not base64");
    result.headers.push_back({key, std::move(bytes)});
  }
  return Done{};
}

Result<> read_headers(const LineMembers& line, ResultLine& result) {
  if (Result<> added = add_headers(line, "headers", false, result); !added) return added;
  return add_headers(line, "headers_base64", true, result);
}

}  // namespace

Result<ResultLine> parse_result_line(std::string_view line) {
  const Result<LineMembers> members = LineMembers::read(line, kNames);
  if (!members) return members.error();
  ResultLine result;
  for (const auto read :
       {read_ticket, read_command, read_failure, read_done, read_targets, read_op, read_payload, read_headers})
    if (Result<> done = read(members.value(), result); !done) return done.error();
  return result;
}

std::optional<std::string> ticket_of(std::string_view line) {
  const ordered_json parsed = ordered_json::parse(line, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  std::optional<std::string> ticket;
  for (const ndjson::Member& member : ndjson::members_of(line)) {
    if (member.name != "ticket") continue;
    if (ticket) return std::nullopt;
    ticket = ndjson::as_text(member.value);
    if (!ticket) return std::nullopt;
  }
  return ticket;
}

}  // namespace reseq::lines
