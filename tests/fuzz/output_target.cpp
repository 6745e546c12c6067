// What is written for any record: forwards that come back as the result of their request, releases with our stamp
// alone, dead letters that fit and whose account is ours, events that are one line of JSON.
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "codec/base64.h"
#include "codec/dead_letter.h"
#include "codec/header_names.h"
#include "codec/sequence_text.h"
#include "fuzzed_record.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

using codec::FoundHeaders;
using codec::HeaderKind;
namespace header = codec::header;

// The headers of a record as Kafka would carry them: those of the input, edited.
std::vector<Header> applied(const codec::OutputRecord& output, const codec::InputRecord& input) {
  std::vector<Header> headers;
  if (output.takes_input_headers) headers.assign(input.headers.begin(), input.headers.end());
  for (const HeaderEdit& edit : output.edits) {
    std::erase_if(headers, [&](const Header& header) { return header.name == edit.name; });
    if (edit.value) headers.push_back({edit.name, edit.value});
  }
  return headers;
}

std::size_t count_of(const std::vector<Header>& headers, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(), [name](const Header& header) { return header.name == name; }));
}

std::optional<std::string_view> last_of(const std::vector<Header>& headers, std::string_view name) {
  std::optional<std::string_view> value;
  for (const Header& header : headers)
    if (header.name == name) value = header.value;
  return value;
}

struct Writing {
  const codec::InputRecord& input;
  const codec::DecodeContext& decode;
  const codec::EncodeContext& encode;
  Arena& arena;

  codec::OutputRecord operator()(auto what) const {
    return codec::encode(Emission{InputIndex(0), std::move(what)}, input, encode, arena);
  }
};

// A pipeline copies key and headers and adds its own two: that must be the result of this request.
void check_forward(const Writing& write, const Request& request) {
  const TargetSet targets = request.what.targets.value_or(write.decode.targets->all());
  if (targets.empty()) return;
  const Order order{request.what.epoch.value_or(Epoch(7)), request.what.sequence, Revision(request.reprocess ? 3 : 0)};
  const bool journal = request.wish != nullptr;
  const std::uint32_t attempt = journal && request.reprocess ? UINT32_MAX : 1;
  const Dispatched dispatched{attempt, journal ? UnixMs(INT64_MAX) : UnixMs()};
  const codec::OutputRecord work = write(Forward{order, request.what.op, targets, &dispatched});
  std::vector<Header> headers = applied(work, write.input);
  for (const std::string_view name : {header::kCommand, header::kReprocess, header::kVersion})
    RESEQ_ASSERT(count_of(headers, name) == 0, "a header that concerned us alone was forwarded");
  RESEQ_ASSERT(count_of(headers, header::kLeaseUntil) == (journal ? 1U : 0U), "a lease that is not ours");
  RESEQ_ASSERT(
      codec::record_bytes_max(work.key->size(), work.payload ? work.payload->size() : 0, headers) <= request.work_bytes,
      "a bound below what is forwarded");
  const std::string_view target = write.decode.targets->name(targets.first());
  std::erase_if(headers, [](const Header& one) { return one.name == header::kTarget; });
  headers.push_back({header::kCommand, "sequence"});
  headers.push_back({header::kTarget, target});
  codec::InputRecord result = write.input;
  result.role = Role::kCommands;
  result.headers = headers;
  const Command command = codec::decode(result, write.decode);
  if (const auto* refused = std::get_if<Refused>(&command)) {
    RESEQ_ASSERT(refused->reason == Reason::kMalformedHeader || refused->reason == Reason::kOpPayloadConflict,
                 "the result of a request is refused");
    return;
  }
  const auto& answer = std::get<SequenceResult>(command);
  RESEQ_ASSERT((Order{answer.epoch.value_or(Epoch()), answer.sequence, answer.revision}) == order,
               "a result with another order than its request");
  RESEQ_ASSERT(targets.contains(answer.target) && answer.id == request.what.id, "a result of another document");
  RESEQ_ASSERT(answer.attempt == (attempt > 1 ? attempt : 0), "a result of another attempt");
}

void check_release(const Writing& write, const SequenceResult& result) {
  const Order order{result.epoch.value_or(Epoch()), result.sequence, result.revision};
  const codec::OutputRecord output = write(Release{result.target, order, result.op, Version(4711)});
  const std::vector<Header> headers = applied(output, write.input);
  RESEQ_ASSERT(count_of(headers, header::kVersion) == 1 && last_of(headers, header::kVersion) == "4711",
               "a version that is not ours");
  for (const std::string_view name : {header::kCommand, header::kPriority, header::kProcessAt, header::kExpiresAt,
                                      header::kAttempt, header::kLeaseUntil})
    RESEQ_ASSERT(count_of(headers, name) == 0, "what concerned us alone was released");
  if (result.op == Op::kDelete)
    RESEQ_ASSERT(last_of(headers, header::kOp) == "delete", "a delete that does not say so");
}

void check_dead_letter(const Writing& write, Reason reason, const std::optional<Order>& expected) {
  const codec::OutputRecord letter = write(DeadLetter{reason, expected});
  const std::vector<Header> headers = applied(letter, write.input);
  RESEQ_ASSERT(count_of(headers, header::kReason) == 1 && last_of(headers, header::kReason) == name_of(reason),
               "a reason that is not ours");
  RESEQ_ASSERT(last_of(headers, header::kSourceTopic) == write.encode.input_topic &&
                   last_of(headers, header::kSourceOffset) == "42" && last_of(headers, header::kSourcePartition) == "0",
               "a source that is not ours");
  const auto is_ours = [&](std::string_view name, bool told) {
    RESEQ_ASSERT(count_of(headers, name) == (told ? 1U : 0U), "an account that is not ours");
  };
  is_ours(header::kExpectedSeq, expected.has_value());
  const auto first = codec::parse_first_written(last_of(headers, header::kFirstWritten).value_or(""));
  RESEQ_ASSERT(first && *first <= write.input.timestamp, "a letter that is younger than its input");
  is_ours(header::kPayloadOmitted, write.input.payload && !letter.payload);
  is_ours(header::kHeadersOmitted, !letter.takes_input_headers);
  is_ours(header::kKeyOmitted, write.input.key && !letter.key);
  RESEQ_ASSERT(codec::record_bytes_max(letter.key ? letter.key->size() : 0, letter.payload ? letter.payload->size() : 0,
                                       headers) <= write.encode.dead_letter_bytes_max,
               "a dead letter that does not fit its topic");
}

void check_event(const Writing& write, const Event& event) {
  const codec::OutputRecord record = codec::encode(event, &write.input, write.encode, write.arena);
  RESEQ_ASSERT(record.payload.has_value(), "an event without a payload");
  const std::string_view text = *record.payload;
  RESEQ_ASSERT(std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }),
               "a control byte in JSON");
  const auto json = nlohmann::json::parse(text, nullptr, false);
  RESEQ_ASSERT(json.is_object(), "an event that is no JSON");
  if (event.id.empty()) return;
  const auto id = json.contains("id") ? std::optional(json["id"].get<std::string>())
                                      : codec::parse_base64(json["id_base64"].get<std::string>());
  RESEQ_ASSERT(id == event.id, "an event of another document");
}

}  // namespace

void fuzz_output(std::string_view input) {
  Pieces pieces(input);
  const std::uint8_t choice = pieces.byte();
  const std::uint64_t letter_bytes_max = choice < 128 ? UINT64_MAX : 400 + 8 * std::uint64_t{choice};
  const FuzzedRecord fuzzed = read_record(pieces);
  codec::InputRecord record = fuzzed.record.view();
  const codec::EncodeContext context{fuzzed.context.targets, fuzzed.context.sequence_kind,
                                     static_cast<codec::DeadLetterHeaders>(choice % 3), "shop.requests",
                                     letter_bytes_max};
  Arena arena;
  const Writing write{record, fuzzed.context, context, arena};
  const Command command = codec::decode(record, fuzzed.context);
  Event event;
  event.decision = {Outcome::kDropped, Reason::kStale, TableRow::kS6};
  std::optional<Order> order;
  if (const auto* request = std::get_if<Request>(&command)) {
    check_forward(write, *request);
    event.id = request->what.id;
    order = Order{request->what.epoch.value_or(Epoch()), request->what.sequence, request->what.revision};
  } else if (const auto* result = std::get_if<SequenceResult>(&command)) {
    check_release(write, *result);
    event.id = result->id;
    event.target = result->target;
    order = Order{result->epoch.value_or(Epoch()), result->sequence, result->revision};
  } else if (const auto* refused = std::get_if<Refused>(&command)) {
    check_dead_letter(write, refused->reason, std::nullopt);
    event.id = refused->id;
    event.decision = {Outcome::kDeadLettered, refused->reason, TableRow::kNone};
  }
  if (order) check_dead_letter(write, Reason::kSequenceReused, order);
  event.order = event.expected = order;
  check_event(write, event);
}

}  // namespace reseq::fuzz
