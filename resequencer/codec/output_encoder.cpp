#include "codec/output_encoder.h"

#include <algorithm>

#include "base/assert.h"
#include "codec/dead_letter.h"
#include "codec/decimal.h"
#include "codec/event_json.h"
#include "codec/header_names.h"
#include "codec/json_writer.h"
#include "codec/sequence_text.h"
#include "codec/target_names.h"
#include "codec/timestamp_text.h"

namespace reseq::codec {
namespace {

constexpr std::string_view kDelete = "delete";

OutputRecord continue_input(Role role, const InputRecord& input) {
  OutputRecord record;
  record.role = role;
  record.key = input.key;
  record.payload = input.payload;
  record.takes_input_headers = true;
  return record;
}

const Said& said_by(const InputRecord& input) {
  RESEQ_ASSERT(input.said.has_value(), "a record sent on that was not decoded");
  return *input.said;
}

void remove(HeaderKind kind, std::string_view name, const Said& said, HeaderEdits& edits) {
  if (said.kinds.has(kind)) edits.push_back({name, std::nullopt});
}

// What concerned the resequencer alone. Most requests have none of it.
void remove_spent(const Said& said, HeaderEdits& edits) {
  remove(HeaderKind::kCommand, header::kCommand, said, edits);
  remove(HeaderKind::kReprocess, header::kReprocess, said, edits);
}

void remove_spent_of_request(const Said& said, HeaderEdits& edits) {
  constexpr HeaderKinds kAny = {HeaderKind::kCommand, HeaderKind::kReprocess, HeaderKind::kVersion};
  if (!said.kinds.has_any(kAny)) return;
  remove_spent(said, edits);
  remove(HeaderKind::kVersion, header::kVersion, said, edits);
}

// Of the request and its dispatch; most results have none of it.
void remove_dispatch(const Said& said, HeaderEdits& edits) {
  constexpr HeaderKinds kAny = {HeaderKind::kPriority, HeaderKind::kProcessAt, HeaderKind::kExpiresAt,
                                HeaderKind::kAttempt, HeaderKind::kLeaseUntil};
  if (!said.kinds.has_any(kAny)) return;
  remove(HeaderKind::kPriority, header::kPriority, said, edits);
  remove(HeaderKind::kProcessAt, header::kProcessAt, said, edits);
  remove(HeaderKind::kExpiresAt, header::kExpiresAt, said, edits);
  remove(HeaderKind::kAttempt, header::kAttempt, said, edits);
  remove(HeaderKind::kLeaseUntil, header::kLeaseUntil, said, edits);
}

// What an operator added to a result that is released by hand.
void remove_operation(const Said& said, HeaderEdits& edits) {
  remove(HeaderKind::kControl, header::kControl, said, edits);
  remove(HeaderKind::kControlId, header::kControlId, said, edits);
  remove(HeaderKind::kControlPartition, header::kControlPartition, said, edits);
  remove(HeaderKind::kControlUnknown, header::kControlUnknown, said, edits);
  remove(HeaderKind::kControlExpectedSeq, header::kControlExpectedSeq, said, edits);
  remove(HeaderKind::kControlExpectedEpoch, header::kControlExpectedEpoch, said, edits);
  remove(HeaderKind::kControlExpectedVersion, header::kControlExpectedVersion, said, edits);
  remove(HeaderKind::kControlDryRun, header::kControlDryRun, said, edits);
}

void say_delete(Op op, const Said& said, HeaderEdits& edits) {
  if (op == Op::kDelete && !said.kinds.has(HeaderKind::kOp)) edits.push_back({header::kOp, kDelete});
}

// Compared as text it orders the results of a document as their versions do.
void say_as_cloudevent(Version of, std::string_view id, HeaderEdits& edits, Arena& arena) {
  constexpr std::size_t kDigits = 20;
  const std::string_view version = decimal(of.value(), arena);
  char* const padded = arena.allocate(kDigits);
  std::fill_n(padded, kDigits, '0');
  version.copy(padded + kDigits - version.size(), version.size());
  edits.push_back({header::kCeSequence, std::string_view(padded, kDigits)});
  edits.push_back({header::kCeSubject, id});
}

void say_dispatched(const Dispatched& dispatched, HeaderEdits& edits, Arena& arena) {
  if (dispatched.attempt > 1) edits.push_back({header::kAttempt, decimal(dispatched.attempt, arena)});
  const auto lease_until = static_cast<std::uint64_t>(dispatched.lease_until.value());
  if (lease_until != 0) edits.push_back({header::kLeaseUntil, decimal(lease_until, arena)});
}

OutputRecord encode_forward(const Forward& forward, const InputRecord& input, const EncodeContext& context,
                            Arena& arena) {
  const Said& said = said_by(input);
  OutputRecord record = continue_input(Role::kWork, input);
  remove_spent_of_request(said, record.edits);
  if (said.epoch != forward.order.epoch)
    record.edits.push_back({header::kEpoch, decimal(forward.order.epoch.value(), arena)});
  if (forward.order.revision.value() != 0)
    record.edits.push_back({header::kRevision, decimal(forward.order.revision.value(), arena)});
  if (said.targets != forward.targets)
    record.edits.push_back({header::kTargets, list_of(forward.targets, *context.targets, arena)});
  if (!said.kinds.has(HeaderKind::kSeq))  // it was said elsewhere; commands have to say it
    record.edits.push_back({header::kSeq, arena.copy(format_sequence(context.sequence_kind, forward.order.sequence))});
  say_delete(forward.op, said, record.edits);
  if (forward.dispatched != nullptr) say_dispatched(*forward.dispatched, record.edits, arena);
  return record;
}

OutputRecord encode_release(const Release& release, const InputRecord& input, const EncodeContext& context,
                            Arena& arena) {
  const Said& said = said_by(input);
  OutputRecord record = continue_input(Role::kOutput, input);
  record.target = release.target;
  remove_spent(said, record.edits);
  remove_dispatch(said, record.edits);
  if (said.kinds.has(HeaderKind::kControl)) remove_operation(said, record.edits);
  record.edits.push_back({header::kVersion, decimal(release.version.value(), arena)});
  if (!said.kinds.has(HeaderKind::kTarget))
    record.edits.push_back({header::kTarget, context.targets->name(release.target)});
  say_delete(release.op, said, record.edits);
  if (context.cloudevents) say_as_cloudevent(release.version, input.key.value_or(""), record.edits, arena);
  return record;
}

std::string_view note_of(const NoResult& what, Arena& arena) {
  JsonWriter json;
  json.text("reason", name_of(what.reason));
  if (!what.error.empty() && is_utf8(what.error))
    json.text("error", what.error);
  else if (!what.error.empty())
    json.base64("error_base64", what.error);
  json.number("attempts", what.attempts);
  json.text("failed_at", format_timestamp_ms(what.at.value()));
  return arena.copy(json.finish());
}

// Nothing of the request goes along: it may not be there any more, and it stands in the dead letter.
OutputRecord encode_marker(const Marker& marker, const EncodeContext& context, Arena& arena) {
  const NoResult& what = *marker.what;
  OutputRecord record;
  record.role = Role::kOutput;
  record.target = marker.target;
  record.key = what.id;
  record.payload = note_of(what, arena);
  HeaderEdits& edits = record.edits;
  edits.push_back({header::kSeq, arena.copy(format_sequence(context.sequence_kind, what.order.sequence))});
  edits.push_back({header::kEpoch, decimal(what.order.epoch.value(), arena)});
  if (what.order.revision.value() != 0)
    edits.push_back({header::kRevision, decimal(what.order.revision.value(), arena)});
  edits.push_back({header::kVersion, decimal(what.version.value(), arena)});
  edits.push_back({header::kTarget, context.targets->name(marker.target)});
  edits.push_back({header::kOp, "failed"});
  if (!what.error.empty()) edits.push_back({header::kError, what.error});
  if (!context.cloudevents) return record;
  edits.push_back({header::kCeSpecVersion, "1.0"});
  edits.push_back({header::kCeId, decimal(what.version.value(), arena)});
  edits.push_back({header::kCeSource, "resequencer"});
  edits.push_back({header::kCeType, "resequencer.failed"});
  say_as_cloudevent(what.version, what.id, edits, arena);
  return record;
}

}  // namespace

OutputRecord encode(const Emission& emission, const InputRecord& input, const EncodeContext& context, Arena& arena) {
  RESEQ_ASSERT(context.targets != nullptr, "an encoder without a target table");
  if (const auto* forward = std::get_if<Forward>(&emission.what))
    return encode_forward(*forward, input, context, arena);
  if (const auto* release = std::get_if<Release>(&emission.what))
    return encode_release(*release, input, context, arena);
  if (const auto* letter = std::get_if<DeadLetter>(&emission.what)) return dead_letter(*letter, input, context, arena);
  if (const auto* marker = std::get_if<Marker>(&emission.what)) return encode_marker(*marker, context, arena);
  return dead_letter({std::get<Redirect>(emission.what).reason}, input, context, arena);
}

OutputRecord encode(const GeneratedRecord& generated) {
  OutputRecord record;
  record.role = generated.to;
  record.key = generated.key;
  record.payload = generated.payload;
  record.headers = generated.headers;
  return record;
}

OutputRecord encode(const Event& event, const InputRecord* input, const EncodeContext& context, Arena& arena) {
  RESEQ_ASSERT(context.targets != nullptr, "an encoder without a target table");
  OutputRecord record;
  record.role = Role::kEvents;
  if (!event.id.empty()) record.key = event.id;
  record.payload = event_json(event, input, context, arena);
  return record;
}

}  // namespace reseq::codec
