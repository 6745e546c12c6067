#include "consumers/lines/record_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/assert.h"
#include "codec/json_writer.h"

namespace reseq::lines {
namespace {

using codec::JsonWriter;
using nlohmann::json;
using nlohmann::ordered_json;

void bytes_member(JsonWriter& line, const std::string& name, const std::optional<std::string_view>& bytes) {
  if (!bytes) return line.json(name, "null");
  if (codec::is_utf8(*bytes)) return line.text(name, *bytes);
  line.base64(name + "_base64", *bytes);
}

bool is_json_container(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  return json::accept(text);
}

// A line end within JSON can only stand between its parts, where a blank says the same.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

void payload_member(JsonWriter& line, const std::optional<std::string_view>& payload, PayloadForm form) {
  if (payload && form == PayloadForm::kBase64) return line.base64("payload_base64", *payload);
  if (payload && form == PayloadForm::kAuto && is_json_container(*payload))
    return line.json("payload", on_one_line(*payload));
  bytes_member(line, "payload", payload);
}

void headers_members(JsonWriter& line, std::span<const Header> headers) {
  ordered_json texts = ordered_json::object();
  ordered_json encoded = ordered_json::object();
  std::set<std::string_view> seen;
  for (const Header& header : headers) {
    if (!seen.insert(header.name).second) continue;
    const auto last =
        std::find_if(headers.rbegin(), headers.rend(), [&](const Header& other) { return other.name == header.name; });
    const std::string name(header.name);
    if (!last->value) {
      texts[name] = nullptr;
    } else if (codec::is_utf8(*last->value)) {
      texts[name] = *last->value;
    } else {
      JsonWriter one;
      one.base64("v", *last->value);
      encoded[name] = json::parse(one.finish())["v"];
    }
  }
  // Of a name that is not UTF-8 only the readable part is shown.
  const auto text_of = [](const ordered_json& members) {
    return members.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  };
  line.json("headers", text_of(texts));
  if (!encoded.empty()) line.json("headers_base64", text_of(encoded));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 10 && (text[0] != '0' || text == "0") &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void document_members(JsonWriter& line, const RecordView& record) {
  const auto id = last_value(record.headers, "reseq-id");
  bytes_member(line, "id", id ? id : record.key);
  bytes_member(line, "seq", last_value(record.headers, "reseq-seq"));
  const auto epoch = last_value(record.headers, "reseq-epoch");
  if (epoch && is_number(*epoch)) line.json("epoch", *epoch);
}

std::string_view op_of(const RecordView& record) {
  const auto op = last_value(record.headers, "reseq-op");
  return (op ? *op == "delete" : !record.payload) ? "delete" : "upsert";
}

void content_members(JsonWriter& line, const RecordView& record, PayloadForm form) {
  payload_member(line, record.payload, form);
  headers_members(line, record.headers);
}

}  // namespace

PayloadForm payload_form_of(std::string_view word) {
  if (word == "text") return PayloadForm::kText;
  if (word == "base64") return PayloadForm::kBase64;
  RESEQ_ASSERT(word == "auto", "a form of payloads that is none");
  return PayloadForm::kAuto;
}

std::optional<std::string_view> last_value(std::span<const Header> headers, std::string_view name) {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header)
    if (header->name == name) return header->value.value_or(std::string_view());
  return std::nullopt;
}

std::string work_line(std::string_view ticket, const RecordView& record, std::span<const std::string> targets,
                      PayloadForm form) {
  JsonWriter line;
  line.text("ticket", ticket);
  document_members(line, record);
  const json names(std::vector<std::string>(targets.begin(), targets.end()));
  line.json("targets", names.dump(-1, ' ', false, json::error_handler_t::replace));
  line.text("op", op_of(record));
  content_members(line, record, form);
  return std::string(line.finish()) + "\n";
}

std::string output_line(const RecordView& record, Partition partition, Offset offset, PayloadForm form) {
  JsonWriter line;
  document_members(line, record);
  bytes_member(line, "version", last_value(record.headers, "reseq-version"));
  // A marker: the payload is a note, no document.
  const bool is_marker = last_value(record.headers, "reseq-op") == "failed";
  line.text("op", is_marker ? "failed" : op_of(record));
  if (is_marker) bytes_member(line, "error", last_value(record.headers, "reseq-error"));
  content_members(line, record, form);
  line.number("partition", partition.value());
  line.number("offset", offset.value());
  return std::string(line.finish()) + "\n";
}

}  // namespace reseq::lines
