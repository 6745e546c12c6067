#include "codec/dead_letter.h"

#include <algorithm>
#include <array>

#include "codec/decimal.h"
#include "codec/header_names.h"
#include "codec/record_size.h"
#include "codec/sequence_text.h"
#include "codec/target_names.h"

namespace reseq::codec {
namespace {

constexpr std::string_view kOrigin = "resequencer";  // where Java would name the class of an exception

// Kafka Streams writes all of these as text (ExceptionHandlerUtils).
namespace streams {
constexpr std::string_view kException = "__streams.errors.exception";
constexpr std::string_view kMessage = "__streams.errors.message";
constexpr std::string_view kStackTrace = "__streams.errors.stacktrace";
constexpr std::string_view kTopic = "__streams.errors.topic";
constexpr std::string_view kPartition = "__streams.errors.partition";
constexpr std::string_view kOffset = "__streams.errors.offset";
}  // namespace streams

// Spring writes numbers as Java's ByteBuffer does: int 4 bytes, long 8 bytes, highest first (KafkaHeaders.DLT_*).
namespace spring {
constexpr std::string_view kTopic = "kafka_dlt-original-topic";
constexpr std::string_view kPartition = "kafka_dlt-original-partition";
constexpr std::string_view kOffset = "kafka_dlt-original-offset";
constexpr std::string_view kTimestamp = "kafka_dlt-original-timestamp";
constexpr std::string_view kException = "kafka_dlt-exception-fqcn";
constexpr std::string_view kMessage = "kafka_dlt-exception-message";
constexpr std::string_view kStackTrace = "kafka_dlt-exception-stacktrace";
}  // namespace spring

// When the input of the first letter was written: one that is sent again says so, and cannot become younger by it.
std::optional<UnixMs> first_written(const InputRecord& input) {
  std::optional<UnixMs> first;
  if (input.timestamp > UnixMs()) first = input.timestamp;
  const Header* said = find_header(input.headers, header::kFirstWritten);
  const auto before = said != nullptr && said->value ? parse_first_written(*said->value) : std::nullopt;
  return before && (!first || *before < *first) ? before : first;
}

std::string_view big_endian(std::uint64_t value, std::size_t bytes, Arena& arena) {
  char* const place = arena.allocate(bytes);
  for (std::size_t i = 0; i < bytes; ++i) place[i] = static_cast<char>(value >> (8 * (bytes - 1 - i)));
  return {place, bytes};
}

void add_streams(std::string_view reason, const InputRecord& input, const EncodeContext& context, Arena& arena,
                 HeaderEdits& edits) {
  edits.push_back({streams::kException, kOrigin});
  edits.push_back({streams::kMessage, reason});
  edits.push_back({streams::kStackTrace, ""});
  edits.push_back({streams::kTopic, context.input_topic});
  edits.push_back({streams::kPartition, decimal(input.partition.value(), arena)});
  edits.push_back({streams::kOffset, decimal(input.offset.value(), arena)});
}

void add_spring(std::string_view reason, const InputRecord& input, const EncodeContext& context, Arena& arena,
                HeaderEdits& edits) {
  edits.push_back({spring::kTopic, context.input_topic});
  edits.push_back({spring::kPartition, big_endian(static_cast<std::uint32_t>(input.partition.value()), 4, arena)});
  edits.push_back({spring::kOffset, big_endian(static_cast<std::uint64_t>(input.offset.value()), 8, arena)});
  edits.push_back({spring::kTimestamp, big_endian(static_cast<std::uint64_t>(input.timestamp.value()), 8, arena)});
  edits.push_back({spring::kException, kOrigin});
  edits.push_back({spring::kMessage, reason});
  edits.push_back({spring::kStackTrace, ""});
}

void say_why(const GivenUp& given_up, const EncodeContext& context, Arena& arena, HeaderEdits& edits) {
  if (!given_up.targets.empty()) {
    edits.push_back({header::kTargets, list_of(given_up.targets, *context.targets, arena)});
    if (given_up.attempts) edits.push_back({header::kAttempts, decimal(*given_up.attempts, arena)});
    if (!given_up.error.empty()) edits.push_back({header::kError, given_up.error});
  }
  if (given_up.gone > 0) edits.push_back({header::kPayloadOmitted, decimal(given_up.gone, arena)});
}

bool too_large(const OutputRecord& record, const InputRecord& input, const EncodeContext& context) {
  std::uint64_t bytes =
      record_bytes_max(record.key ? record.key->size() : 0, record.payload ? record.payload->size() : 0,
                       record.takes_input_headers ? input.headers : std::span<const Header>());
  for (const HeaderEdit& edit : record.edits)
    if (edit.value) bytes += header_bytes_max(edit.name.size(), edit.value->size());
  return bytes > context.dead_letter_bytes_max;
}

void make_fit(OutputRecord& record, const InputRecord& input, const EncodeContext& context, Arena& arena) {
  if (!too_large(record, input, context)) return;
  if (record.payload) {
    record.edits.push_back({header::kPayloadOmitted, decimal(record.payload->size(), arena)});
    record.payload.reset();
  }
  if (!too_large(record, input, context)) return;
  if (!input.headers.empty()) {
    record.edits.push_back({header::kHeadersOmitted, decimal(input.headers.size(), arena)});
    record.takes_input_headers = false;
  }
  if (!too_large(record, input, context)) return;
  if (record.key) record.edits.push_back({header::kKeyOmitted, decimal(record.key->size(), arena)});
  record.key.reset();
  // They stand in the state of the document, too.
  for (const std::string_view name : {header::kError, header::kTargets}) {
    if (!too_large(record, input, context)) return;
    const auto kept = std::remove_if(record.edits.begin(), record.edits.end(),
                                     [name](const HeaderEdit& edit) { return edit.name == name; });
    record.edits.erase(kept, record.edits.end());
  }
}

// What only some dead letters say must not come from the input: whoever reads them would believe it.
void remove_forged(const InputRecord& input, HeaderEdits& edits) {
  for (const std::string_view name : {header::kExpectedSeq, header::kFirstWritten, header::kPayloadOmitted,
                                      header::kHeadersOmitted, header::kKeyOmitted, header::kAttempts}) {
    const auto has_name = [name](const auto& one) { return one.name == name; };
    const bool said = std::any_of(edits.begin(), edits.end(), has_name);
    if (!said && std::any_of(input.headers.begin(), input.headers.end(), has_name))
      edits.push_back({name, std::nullopt});
  }
}

}  // namespace

OutputRecord dead_letter(const DeadLetter& letter, const InputRecord& input, const EncodeContext& context,
                         Arena& arena) {
  const auto& [reason, expected, given_up] = letter;
  OutputRecord record;
  record.role = Role::kDeadLetter;
  record.key = input.key;
  record.payload = input.payload;
  record.takes_input_headers = input.headers_left_out == 0;
  record.edits.push_back({header::kReason, name_of(reason)});
  record.edits.push_back({header::kSourceTopic, context.input_topic});
  record.edits.push_back({header::kSourcePartition, decimal(input.partition.value(), arena)});
  record.edits.push_back({header::kSourceOffset, decimal(input.offset.value(), arena)});
  if (expected && !expected->sequence.bytes().empty())
    record.edits.push_back(
        {header::kExpectedSeq, arena.copy(format_sequence(context.sequence_kind, expected->sequence))});
  if (const auto first = first_written(input))
    record.edits.push_back({header::kFirstWritten, decimal(first->value(), arena)});
  if (context.dead_letter_headers == DeadLetterHeaders::kStreams)
    add_streams(name_of(reason), input, context, arena, record.edits);
  if (context.dead_letter_headers == DeadLetterHeaders::kSpring)
    add_spring(name_of(reason), input, context, arena, record.edits);
  if (given_up != nullptr) say_why(*given_up, context, arena, record.edits);
  if (!record.takes_input_headers)
    record.edits.push_back({header::kHeadersOmitted, decimal(input.headers_left_out, arena)});
  make_fit(record, input, context, arena);
  if (record.takes_input_headers) remove_forged(input, record.edits);
  return record;
}

std::optional<UnixMs> parse_first_written(std::string_view text) {
  const auto ms = parse_decimal<std::uint64_t>(text);
  if (!ms || *ms == 0 || *ms > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return UnixMs(static_cast<std::int64_t>(*ms));
}

bool is_added_to_dead_letters(std::string_view name) {
  constexpr std::array kAdded = {
      header::kAttempts,        header::kError,          header::kReason,      header::kSourceTopic,
      header::kSourcePartition, header::kSourceOffset,   header::kExpectedSeq, header::kFirstWritten,
      header::kPayloadOmitted,  header::kHeadersOmitted, header::kKeyOmitted,  streams::kException,
      streams::kMessage,        streams::kStackTrace,    streams::kTopic,      streams::kPartition,
      streams::kOffset,         spring::kTopic,          spring::kPartition,   spring::kOffset,
      spring::kTimestamp,       spring::kException,      spring::kMessage,     spring::kStackTrace};
  return std::find(kAdded.begin(), kAdded.end(), name) != kAdded.end();
}

}  // namespace reseq::codec
