#include "codec/event_json.h"

#include <algorithm>

#include "base/utf8.h"
#include "codec/header_names.h"
#include "codec/json_writer.h"
#include "codec/sequence_text.h"

namespace reseq::codec {
namespace {

std::string_view kind_name(EventKind kind) {
  switch (kind) {
    case EventKind::kOutcome:
      return "outcome";
    case EventKind::kOverdue:
      return "overdue";
    case EventKind::kReset:
      return "reset";
    case EventKind::kOperation:
      return "operation";
    case EventKind::kLeaseLost:
      return "lease_lost";
    case EventKind::kTargetDown:
      return "target_down";
    case EventKind::kTargetUp:
      return "target_up";
  }
  return "unknown";
}

// Bytes of a document's or a sequence's text: `name` when they are UTF-8, `base64_name` when they are not.
void bytes_member(std::string_view name, std::string_view base64_name, std::string_view bytes, JsonWriter& json) {
  if (is_utf8(bytes))
    json.text(name, bytes);
  else
    json.base64(base64_name, bytes);
}

void order_member(std::string_view name, const Order& order, const EncodeContext& context, JsonWriter& json) {
  json.begin_object(name);
  json.number("epoch", order.epoch.value());
  // A RESET has an epoch alone.
  if (!order.sequence.bytes().empty())
    bytes_member("seq", "seq_base64", format_sequence(context.sequence_kind, order.sequence), json);
  json.number_as_text("revision", order.revision.value());
  json.end_object();
}

void decision_members(const Decision& decision, JsonWriter& json) {
  json.text("outcome", name_of(decision.outcome));
  if (decision.reason != Reason::kNone) json.text("reason", name_of(decision.reason));
  if (decision.table_row != TableRow::kNone) json.text("table_row", name_of(decision.table_row));
}

void targets_member(TargetSet targets, const TargetTable& table, JsonWriter& json) {
  json.begin_list("targets");
  for (const TargetNumber target : targets) json.element(table.name(target));
  json.end_list();
}

// version-trace-parent-flags in hexadecimal digits, of a length that every version so far has.
bool is_traceparent(std::string_view text) {
  constexpr std::size_t kBytesMax = 128;
  const auto allowed = [](char c) { return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return !text.empty() && text.size() <= kBytesMax && std::all_of(text.begin(), text.end(), allowed);
}

// A list of one's own for each vendor, in printable ASCII, and 512 bytes are what all have to pass on.
bool is_tracestate(std::string_view text) {
  constexpr std::size_t kBytesMax = 512;
  return !text.empty() && text.size() <= kBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// W3C Trace Context: the state means nothing without its parent.
void trace_members(const InputRecord& input, JsonWriter& json) {
  const Header* parent = find_header(input.headers, header::kTraceParent);
  if (parent == nullptr || !parent->value || !is_traceparent(*parent->value)) return;
  json.text("traceparent", *parent->value);
  const Header* state = find_header(input.headers, header::kTraceState);
  if (state != nullptr && state->value && is_tracestate(*state->value)) json.text("tracestate", *state->value);
}

constexpr std::size_t kMaxSourceBytes = 256;

// Whatever a producer calls the place where the document came from.
void document_source_member(std::string_view source, JsonWriter& json) {
  if (source.empty()) return;
  bytes_member("document_source", "document_source_base64", cut_at_character(source, kMaxSourceBytes), json);
}

std::string_view source_of(const InputRecord& input) {
  const Header* source = find_header(input.headers, header::kSource);
  return source != nullptr ? source->value.value_or("") : "";
}

// Which operation it was, as its record says; a refused one may say anything.
void operation_members(const Event& event, const InputRecord& input, JsonWriter& json) {
  const FoundHeaders found(input.headers);
  const auto member = [&](std::string_view name, std::string_view base64_name, HeaderKind kind) {
    const Header* header = found.find(kind);
    if (header == nullptr || !header->value) return;
    // A refused record may say anything, at any length, and its event has to fit.
    bytes_member(name, base64_name, header->value->substr(0, kMaxControlIdBytes), json);
  };
  member("operation", "operation_base64", HeaderKind::kControl);
  member("control_id", "control_id_base64", HeaderKind::kControlId);
  if (event.dry_run) json.json("dry_run", "true");
}

}  // namespace

std::string_view event_json(const Event& event, const InputRecord* input, const EncodeContext& context, Arena& arena) {
  JsonWriter json;
  json.text("kind", kind_name(event.kind));
  if (event.kind == EventKind::kOperation && input != nullptr) operation_members(event, *input, json);
  if (!event.id.empty()) bytes_member("id", "id_base64", event.id, json);
  if (event.kind != EventKind::kOverdue) decision_members(event.decision, json);
  if (event.order) order_member("order", *event.order, context, json);
  if (event.expected) order_member("expected", *event.expected, context, json);
  if (event.target) json.text("target", context.targets->name(*event.target));
  if (!event.targets.empty()) targets_member(event.targets, *context.targets, json);
  if (event.attempt != 0) json.number("attempt", event.attempt);
  if (event.version) json.number_as_text("version", event.version->value());
  if (input == nullptr) {
    document_source_member(event.document_source, json);
  } else {
    trace_members(*input, json);
    document_source_member(source_of(*input), json);
    json.begin_object("source");
    json.text("topic", context.input_topic);
    json.number("partition", input->partition.value());
    json.number("offset", input->offset.value());
    json.end_object();
  }
  return arena.copy(json.finish());
}

}  // namespace reseq::codec
