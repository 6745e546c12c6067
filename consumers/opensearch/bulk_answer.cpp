#include "consumers/opensearch/bulk_answer.h"

#include <algorithm>
#include <array>
#include <simdjson.h>
#include <vector>

namespace reseq::opensearch {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t kWordsMax = 1'000;
constexpr std::size_t kCausesMax = 5;

// Until somebody lifts a block or opens an index: told by words that look like those of a bad document.
bool is_for_a_while(std::string_view type) {
  constexpr std::array<std::string_view, 4> kTypes = {"cluster_block_exception", "index_closed_exception",
                                                      "circuit_breaking_exception", "knn_circuit_breaker_exception"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

// It would be said of any document: somebody has to mend the alias, the index or its settings.
bool is_about_the_index(std::string_view type, std::string_view reason) {
  constexpr std::array<std::string_view, 4> kReasons = {
      "no write index is defined for alias",              // several indices behind it, or is_write_index=false
      "pipeline with id [",                               // index.default_pipeline that does not exist
      "Number of documents in the index can't exceed [",  // of a shard
      "only write ops with an op_type of create are allowed in data streams",
  };
  if (type == "routing_missing_exception") return true;
  return type == "illegal_argument_exception" &&
         std::any_of(kReasons.begin(), kReasons.end(),
                     [&](std::string_view beginning) { return reason.starts_with(beginning); });
}

std::string_view text_of(const object& from, std::string_view name) {
  std::string_view text;
  if (from[name].get_string().get(text) != simdjson::SUCCESS) return {};
  return text;
}

// The error, and what caused it, and what caused that.
std::vector<object> with_causes(const object& error) {
  std::vector<object> chain{error};
  object cause;
  while (chain.size() <= kCausesMax && chain.back()["caused_by"].get_object().get(cause) == simdjson::SUCCESS)
    chain.push_back(cause);
  return chain;
}

// At most kWordsMax bytes, and no half of a character.
std::string shortened(std::string words) {
  if (words.size() <= kWordsMax) return words;
  std::size_t end = kWordsMax;
  while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0U) == 0x80U) --end;
  words.resize(end);
  return words;
}

// "mapper_parsing_exception: failed to parse field [n]: For input string: \"x\"": what went wrong and what caused it.
std::string words_of(const object& error) {
  std::string words(text_of(error, "type"));
  for (const object& cause : with_causes(error)) {
    const std::string_view reason = text_of(cause, "reason");
    if (reason.empty() || words.find(reason) != std::string::npos) continue;
    if (!words.empty()) words += ": ";
    words += reason;
  }
  return shortened(std::move(words));
}

// What is not about the document may stand under words that are: "failed to parse", caused by a lack of memory.
Verdict verdict_of_error(std::int64_t status, const object& error) {
  for (const object& cause : with_causes(error)) {
    const Verdict verdict = verdict_of_item(status, text_of(cause, "type"), text_of(cause, "reason"));
    if (verdict != Verdict::kRefused) return verdict;
  }
  return Verdict::kRefused;
}

// {"index": {"status": 201}} or {"delete": {"status": 409, "error": {..}}}
bool read_item(const element& item, ItemAnswer& answer) {
  object outer;
  if (item.get_object().get(outer) != simdjson::SUCCESS || outer.size() != 1) return false;
  object inner;
  if ((*outer.begin()).value.get_object().get(inner) != simdjson::SUCCESS) return false;
  std::int64_t status = 0;
  if (inner["status"].get_int64().get(status) != simdjson::SUCCESS) return false;
  answer.status = static_cast<int>(status);
  object error;
  const bool failed = inner["error"].get_object().get(error) == simdjson::SUCCESS;
  answer.verdict = failed ? verdict_of_error(status, error) : verdict_of_item(status, std::string_view());
  answer.words = failed && answer.verdict != Verdict::kNotNewer ? words_of(error) : std::string();
  return true;
}

}  // namespace

struct AnswerReader::Parser {
  simdjson::dom::parser dom;
};

AnswerReader::AnswerReader() : parser_(std::make_unique<Parser>()) {}

AnswerReader::~AnswerReader() = default;

Verdict verdict_of_status(long http_status) {
  if (http_status == 200) return Verdict::kStored;
  if (http_status == 413 || http_status == 400) return Verdict::kSmaller;
  if (http_status == 408 || http_status == 429 || http_status >= 500) return Verdict::kAgain;
  return Verdict::kUnusable;
}

Verdict verdict_of_item(std::int64_t status, std::string_view error_type, std::string_view reason) {
  if (status >= 200 && status < 300) return Verdict::kStored;
  if (status == 404) return error_type.empty() ? Verdict::kStored : Verdict::kUnusable;
  if (status == 409) return Verdict::kNotNewer;
  if (is_for_a_while(error_type)) return Verdict::kAgain;
  if (is_about_the_index(error_type, reason)) return Verdict::kUnusable;
  if (status == 401 || status == 403) return Verdict::kUnusable;
  if (status == 408 || status == 429 || status >= 500) return Verdict::kAgain;
  return Verdict::kRefused;
}

Result<> AnswerReader::read_items(std::string_view body, std::span<ItemAnswer> items) {
  const Error strange{.what_to_do = ErrorClass::kRetriable,
                      .message = "what came back is not an answer to _bulk: is there another server between?"};
  simdjson::dom::array list;
  if (parser_->dom.parse(body.data(), body.size())["items"].get_array().get(list) != simdjson::SUCCESS ||
      list.size() != items.size())
    return strange;
  std::vector<ItemAnswer> read;
  read.reserve(items.size());
  for (const element item : list)
    if (!read_item(item, read.emplace_back())) return strange;
  if (read.size() != items.size()) return strange;
  std::move(read.begin(), read.end(), items.begin());
  return Done{};
}

std::string AnswerReader::read_error(std::string_view body) {
  element error;
  if (parser_->dom.parse(body.data(), body.size())["error"].get(error) != simdjson::SUCCESS) return {};
  object whole;
  if (error.get_object().get(whole) == simdjson::SUCCESS) return words_of(whole);
  std::string_view text;
  return error.get_string().get(text) == simdjson::SUCCESS ? shortened(std::string(text)) : std::string();
}

}  // namespace reseq::opensearch
