// Lines of JSON: what a producer's or a command's line says is read or refused in one printable line; what a stage
// writes for any record is one line of JSON that comes back as the answer to it.
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "consumers/command/line_buffer.h"
#include "consumers/lines/record_line.h"
#include "consumers/lines/result_line.h"
#include "fuzzed_record.h"
#include "producers/ndjson/line_parser.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

bool is_printable(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

void check_read(std::string_view text) {
  const auto change = ndjson::parse_line(text);
  if (!change) RESEQ_ASSERT(is_printable(change.error().message), "a refusal that is not one line");
  if (change && change.value().op == Op::kUpsert && text.find("\"op\"") == std::string_view::npos)
    RESEQ_ASSERT(change.value().payload.has_value(), "an upsert of nothing");
  const auto result = lines::parse_result_line(text);
  if (!result) RESEQ_ASSERT(is_printable(result.error().message), "a refusal that is not one line");
  const auto ticket = lines::ticket_of(text);
  if (result) RESEQ_ASSERT(ticket == result.value().ticket, "two tickets");
}

void check_is_line(const std::string& line) {
  RESEQ_ASSERT(line.ends_with('\n') && line.find('\n') == line.size() - 1, "not one line");
  RESEQ_ASSERT(nlohmann::json::accept(line), "a line that is no JSON");
}

void check_written(const FuzzedRecord& fuzzed, lines::PayloadForm form) {
  const codec::InputRecord record = fuzzed.record.view();
  const lines::RecordView view{record.key, record.payload, record.headers};
  check_is_line(lines::output_line(view, Partition(3), Offset(42), form));
  const std::vector<std::string>& names = fuzzed.context.targets->names();
  const std::string line = lines::work_line("7-1", view, names, form);
  check_is_line(line);
  const auto answer = lines::parse_result_line(line);
  if (names.empty()) return;  // an answer names at least one target
  if (!answer) {
    const auto op = lines::last_value(record.headers, "reseq-op");
    RESEQ_ASSERT(op && *op != "delete" && !record.payload, "a line that cannot be sent back as it is");
    return;
  }
  RESEQ_ASSERT(answer.value().ticket == "7-1" && answer.value().targets == names, "an answer to another line");
  if (answer.value().op == Op::kUpsert && form == lines::PayloadForm::kBase64)
    RESEQ_ASSERT(answer.value().payload == record.payload, "another payload");
}

void check_pieces(std::string_view text, std::size_t step) {
  command::LineBuffer buffer;
  std::string joined;
  for (std::size_t at = 0; at < text.size(); at += step) {
    buffer.add(text.substr(at, step));
    while (const auto line = buffer.next()) joined += line->text + "\n";
  }
  if (const auto line = buffer.rest()) joined += line->text;
  RESEQ_ASSERT(joined == text, "lines that are not what was written");
}

}  // namespace

void fuzz_line(std::string_view input) {
  Pieces pieces(input);
  const std::uint8_t choice = pieces.byte();
  if (choice % 4 == 0) return check_written(read_record(pieces), static_cast<lines::PayloadForm>(choice / 4 % 3));
  if (choice % 4 == 1) return check_pieces(pieces.rest(), 1 + choice / 4);
  check_read(pieces.rest());
}

}  // namespace reseq::fuzz
