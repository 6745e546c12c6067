// Any record becomes a command that says what the record says, or a reason; the same record always the same.
#include "base/assert.h"
#include "codec/decimal.h"
#include "codec/header_names.h"
#include "codec/held_rows.h"
#include "codec/sequence_text.h"
#include "codec/timestamp_text.h"
#include "fuzzed_record.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

using codec::FoundHeaders;
using codec::HeaderKind;

struct Reading {
  const codec::InputRecord& record;
  const codec::DecodeContext& context;
  FoundHeaders found;

  [[nodiscard]] std::string_view value(HeaderKind kind) const {
    const Header* header = found.find(kind);
    RESEQ_ASSERT(header != nullptr && header->value, "a command made from a header that is not there");
    return *header->value;
  }
};

void check_document(const Reading& reading, DocumentId id, const Sequence& sequence) {
  RESEQ_ASSERT(id == reading.record.key && !id.empty() && id.size() <= kMaxIdBytes, "an id that is not the key");
  RESEQ_ASSERT(!reading.found.has(HeaderKind::kReserved), "a reserved header was ignored");
  if (reading.found.has(HeaderKind::kId)) RESEQ_ASSERT(reading.value(HeaderKind::kId) == id, "two ids");
  if (reading.context.partitioner != Partitioner::kUnchecked)
    RESEQ_ASSERT(
        codec::partition_of(id, reading.context.partitioner, reading.context.partitions) == reading.record.partition,
        "a misrouted record became a command");
  const SequenceKind kind = reading.context.sequence_kind;
  RESEQ_ASSERT(codec::parse_sequence(kind, reading.value(HeaderKind::kSeq)) == sequence, "another sequence");
  RESEQ_ASSERT(codec::parse_sequence(kind, codec::format_sequence(kind, sequence)) == sequence,
               "a sequence whose text is another sequence");
}

void check_targets(const Reading& reading, const TargetSet& targets) {
  RESEQ_ASSERT(reading.context.targets->all().covers(targets), "a target that the table does not have");
}

void check(const Reading& reading, const Registration& what) {
  check_document(reading, what.id, what.sequence);
  if (what.targets) {
    RESEQ_ASSERT(!what.targets->empty(), "an empty list of targets");
    check_targets(reading, *what.targets);
  }
}

bool says_any(const Reading& reading, std::initializer_list<HeaderKind> kinds) {
  return reading.found.kinds().has_any(kinds);
}

void check_date(const Reading& reading, HeaderKind kind, const std::optional<UnixMs>& date) {
  RESEQ_ASSERT(date.has_value() == reading.found.has(kind), "a date that nobody said");
  if (!date) return;
  constexpr std::int64_t kNsPerMs = 1'000'000;
  RESEQ_ASSERT(date->value() >= 0 && date->value() <= INT64_MAX / kNsPerMs, "a date out of its range");
  const std::string_view said = reading.value(kind);
  const auto ns = codec::parse_timestamp(said);
  RESEQ_ASSERT(ns ? *ns / kNsPerMs == date->value() : codec::parse_decimal<std::uint64_t>(said) == date->value(),
               "another date");
}

void check_wish(const Reading& reading, const Request& request) {
  const Wish& wish = *request.wish;
  RESEQ_ASSERT(wish.priority.has_value() == reading.found.has(HeaderKind::kPriority), "a priority that nobody said");
  if (wish.priority)
    RESEQ_ASSERT(codec::parse_decimal<std::uint64_t>(reading.value(HeaderKind::kPriority)) == *wish.priority,
                 "another priority");
  check_date(reading, HeaderKind::kProcessAt, wish.process_at);
  check_date(reading, HeaderKind::kExpiresAt, wish.expires_at);
  if (wish.expires_at)
    RESEQ_ASSERT(wish.expires_at->value() > 0 && request.what.op == Op::kUpsert, "what expires is no upsert");
  const RequestPlace& place = wish.place;
  RESEQ_ASSERT(place.offset == reading.record.offset && place.timestamp == reading.record.timestamp, "another place");
  RESEQ_ASSERT(place.hash == reading.context.hash->of_input(reading.record.key, reading.record.payload) &&
                   place.record_bytes == codec::held_bytes(reading.record) && place.work_bytes == request.work_bytes,
               "another record");
}

void check_attempt(const Reading& reading, std::uint32_t attempt) {
  RESEQ_ASSERT((attempt != 0) == reading.found.has(HeaderKind::kAttempt), "an attempt that nobody said");
  if (attempt != 0)
    RESEQ_ASSERT(codec::parse_decimal<std::uint64_t>(reading.value(HeaderKind::kAttempt)) == attempt,
                 "another attempt");
}

void check(const Reading& reading, const Request& request) {
  RESEQ_ASSERT(reading.record.role == Role::kRequests, "a request from another topic");
  check(reading, request.what);
  RESEQ_ASSERT(request.what.revision == Revision(), "a producer raised a revision");
  RESEQ_ASSERT(!says_any(reading, {HeaderKind::kAttempt, HeaderKind::kLeaseUntil}), "a producer dispatches");
  RESEQ_ASSERT((request.wish != nullptr) == reading.context.journal, "a wish where nothing waits, or none");
  if (request.wish != nullptr)
    check_wish(reading, request);
  else
    RESEQ_ASSERT(!says_any(reading, {HeaderKind::kPriority, HeaderKind::kProcessAt, HeaderKind::kExpiresAt}),
                 "a wish was ignored");
  const bool says_nothing = !reading.found.has(HeaderKind::kOp);
  if (!reading.context.tap && !reading.record.payload)
    RESEQ_ASSERT(request.what.op == Op::kDelete, "an upsert without a payload");
  if (reading.context.explicit_deletes && says_nothing)
    RESEQ_ASSERT(request.what.op == Op::kUpsert, "a delete that nobody asked for");
  if (says_nothing && reading.record.payload) RESEQ_ASSERT(request.what.op == Op::kUpsert, "a delete of itself");
  RESEQ_ASSERT(request.work_bytes > reading.record.key->size(), "a bound below the record");
}

void check(const Reading& reading, const Register& command) {
  RESEQ_ASSERT(reading.record.role == Role::kCommands, "a command from another topic");
  check(reading, command.what);
}

void check(const Reading& reading, const Unregister& command) {
  RESEQ_ASSERT(reading.record.role == Role::kCommands, "a command from another topic");
  check_document(reading, command.id, command.sequence);
  check_targets(reading, command.targets);
  RESEQ_ASSERT(command.everything == command.targets.empty(), "targets and everything");
}

void check(const Reading& reading, const SequenceResult& result) {
  RESEQ_ASSERT(reading.record.role == Role::kCommands, "a command from another topic");
  check_document(reading, result.id, result.sequence);
  check_targets(reading, TargetSet::of(result.target));
  if (!reading.record.payload) RESEQ_ASSERT(result.op == Op::kDelete, "an upsert without a payload");
  RESEQ_ASSERT(result.output_bytes > reading.record.key->size(), "a bound below the record");
  check_attempt(reading, result.attempt);
}

void check(const Reading& reading, const Heartbeat& command) {
  RESEQ_ASSERT(reading.record.role == Role::kCommands, "a command from another topic");
  RESEQ_ASSERT(reading.value(HeaderKind::kCommand) == "heartbeat", "a heartbeat that nobody sent");
  check_document(reading, command.id, command.sequence);
  check_attempt(reading, command.attempt);
  RESEQ_ASSERT(command.timestamp == reading.record.timestamp, "another time");
}

void check(const Reading& reading, const Reset&) {
  RESEQ_ASSERT(reading.record.role == Role::kRequests, "a RESET from another topic");
  RESEQ_ASSERT(reading.value(HeaderKind::kControl) == "reset", "a RESET that nobody asked for");
}

void check_operation(const Reading& reading, std::string_view name, bool dry_run, bool has_date = false) {
  RESEQ_ASSERT(reading.record.role == Role::kControl, "an operation from another topic");
  RESEQ_ASSERT(reading.value(HeaderKind::kControl) == name, "an operation that nobody asked for");
  RESEQ_ASSERT(!says_any(reading, {HeaderKind::kPriority, HeaderKind::kExpiresAt, HeaderKind::kAttempt,
                                   HeaderKind::kLeaseUntil}),
               "an operator wishes or dispatches");
  RESEQ_ASSERT(has_date == says_any(reading, {HeaderKind::kProcessAt}), "a date where none is wanted, or none");
  const bool says_dry_run = reading.found.has(HeaderKind::kControlDryRun);
  RESEQ_ASSERT(dry_run == (says_dry_run && reading.value(HeaderKind::kControlDryRun) == "true"),
               "a dry run that is none");
}

void check(const Reading& reading, const Fail& command) {
  RESEQ_ASSERT(reading.context.failures && reading.value(HeaderKind::kCommand) == "fail", "a failure nobody told");
  check_document(reading, command.id, command.sequence);
  if (!command.everything) check_targets(reading, TargetSet::of(command.target));
  RESEQ_ASSERT(command.error.size() <= kMaxErrorBytes, "an error above its limit");
}

void check(const Reading& reading, const Expire& command) {
  check_operation(reading, "expire", command.dry_run);
  RESEQ_ASSERT(command.id == reading.record.key, "an id that is not the key");
  check_targets(reading, command.targets);
}

void check(const Reading& reading, const DispatchByHand& command) {
  const bool postpones = command.until.has_value();
  check_operation(reading, postpones ? "dispatch-postpone" : "dispatch-now", command.dry_run, postpones);
  RESEQ_ASSERT(!postpones || *command.until >= UnixMs(), "a date before 1970");
  RESEQ_ASSERT(command.id == reading.record.key, "an id that is not the key");
  check_targets(reading, command.targets);
}

void check(const Reading& reading, const ReleaseByHand& command) {
  check_operation(reading, "release", command.dry_run);
  check_document(reading, command.result.id, command.result.sequence);
  check_targets(reading, TargetSet::of(command.result.target));
}

void check(const Reading& reading, const RaiseFloor& command) {
  check_operation(reading, "raise-version-floor", command.dry_run);
  RESEQ_ASSERT(command.floor > Version() && command.floor.value() < kVersionLimit, "a floor that is no version");
  if (command.target) check_targets(reading, TargetSet::of(*command.target));
}

void check(const Reading& reading, const Pause& command) {
  check_operation(reading, command.paused ? "pause" : "resume", command.dry_run);
}

void check(const Reading& reading, const ResumeTarget& command) {
  check_operation(reading, "resume-target", command.dry_run);
  check_targets(reading, TargetSet::of(command.target));
}

void check(const Reading& reading, const SkipPlace& command) {
  check_operation(reading, "skip", command.dry_run);
  check_document(reading, command.id, command.sequence);
  check_targets(reading, TargetSet::of(command.target));
}

void check(const Reading& reading, const Refused& refused) {
  RESEQ_ASSERT(refused.reason > Reason::kNone && refused.reason < Reason::kCount, "refused for no reason");
  RESEQ_ASSERT(refused.id.size() <= kMaxIdBytes, "an id above its limit");
  const Header* id = reading.found.find(HeaderKind::kId);
  RESEQ_ASSERT(refused.id.empty() || refused.id == reading.record.key || (id != nullptr && id->value == refused.id),
               "an id from nowhere");
  RESEQ_ASSERT(refused.operation == (reading.record.role == Role::kControl), "operations come on control");
  if (refused.sequence_without_id_or_seq)
    RESEQ_ASSERT(reading.record.role == Role::kCommands, "on_missing is for results alone");
}

}  // namespace

void fuzz_command(std::string_view input) {
  Pieces pieces(input);
  const FuzzedRecord fuzzed = read_record(pieces);
  codec::InputRecord record = fuzzed.record.view();
  const Command command = codec::decode(record, fuzzed.context);
  const Reading reading{record, fuzzed.context, FoundHeaders(record.headers)};
  std::visit([&](const auto& one) { check(reading, one); }, command);

  const Command again = codec::decode(record, fuzzed.context);
  RESEQ_ASSERT(again.index() == command.index(), "one record, two commands");
  if (const auto* refused = std::get_if<Refused>(&command))
    RESEQ_ASSERT(std::get<Refused>(again).reason == refused->reason, "one record, two reasons");
}

}  // namespace reseq::fuzz
