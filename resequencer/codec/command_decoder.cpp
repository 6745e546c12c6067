#include "codec/command_decoder.h"

#include "base/assert.h"
#include "codec/decimal.h"
#include "codec/hash.h"
#include "codec/header_names.h"
#include "codec/record_size.h"
#include "codec/sequence_text.h"
#include "codec/target_names.h"

namespace reseq::codec {
namespace {

// Reads one record. The first refusal stays; what is read after it is not used.
class Decoder {
 public:
  Decoder(InputRecord& record, const DecodeContext& context)
      : record_(record), context_(context), found_(record.headers), said_(record.said.emplace()) {
    said_.kinds = found_.kinds();
    if (record.key && record.key->size() <= kMaxIdBytes) id_ = *record.key;
  }

  Command request();
  Command command();
  Command operation();
  Command refused(Reason reason) {
    if (has_id_in_header()) id_ = {};  // what the key says is no id
    refuse(reason);
    return refused();
  }

 private:
  Command reset();
  Command register_command();
  Command unregister();
  Command sequence_result();
  void read_sequence_result(SequenceResult& result);
  void read_operation(bool of_document);
  Command expire(bool dry_run);
  Command release(bool dry_run);
  Command raise_floor(bool dry_run);
  std::optional<ExpectedRequest> expected();
  Command refused() const { return Refused{reason_, lacking_, id_, record_.role == Role::kControl}; }

  void refuse(Reason reason) {
    if (!failed()) reason_ = reason;
  }
  [[nodiscard]] bool failed() const { return reason_ != Reason::kNone; }

  void refuse_reserved() {
    if (found_.has(HeaderKind::kReserved)) refuse(Reason::kUnsupportedHeader);
  }

  // Empty when the header is absent or, with malformed_header, null.
  std::optional<std::string_view> text(HeaderKind kind) {
    const Header* header = found_.find(kind);
    if (header == nullptr) return std::nullopt;
    if (!header->value) refuse(Reason::kMalformedHeader);
    return header->value;
  }

  template <typename Number>
  std::optional<Number> number(HeaderKind kind) {
    const auto digits = text(kind);
    if (!digits) return std::nullopt;
    const auto value = parse_decimal<Number>(*digits);
    if (!value) refuse(Reason::kMalformedHeader);
    return value;
  }

  [[nodiscard]] bool has_id_in_header() const {
    return context_.elsewhere != nullptr && !context_.elsewhere->id.is_key() && record_.role == Role::kRequests;
  }
  void read_id();
  void read_elsewhere(const InputPlaces& places);
  void read_id_in(const Header* header);
  void check_repeated_id();
  void check_partition();
  void read_cloudevent();
  Sequence sequence();
  std::optional<Epoch> epoch() {
    const auto value = number<std::uint32_t>(HeaderKind::kEpoch);
    if (value) said_.epoch = Epoch(*value);
    return said_.epoch;
  }
  Revision revision() { return Revision(number<std::uint64_t>(HeaderKind::kRevision).value_or(0)); }
  std::optional<TargetSet> targets();
  std::optional<TargetNumber> target(std::string_view name);
  // `payload_says`: without a header a null payload means delete, unless deletes are explicit; with `upsert` it is a
  // conflict.
  Op op(bool payload_says);
  bool flag(HeaderKind kind);
  // 0 is none.
  std::optional<Version> version(HeaderKind kind) {
    const auto value = number<std::uint64_t>(kind);
    if (value && *value >= kVersionLimit) refuse(Reason::kMalformedHeader);
    return value ? std::optional(Version(*value)) : std::nullopt;
  }

  [[nodiscard]] std::uint64_t bytes_max() const {
    return record_bytes_max(id_.size(), record_.payload ? record_.payload->size() : 0, record_.headers) +
           added_bytes_max(*context_.targets, context_.cloudevents ? id_.size() : 0);
  }

  InputRecord& record_;
  const DecodeContext& context_;
  FoundHeaders found_;
  Said& said_;
  Reason reason_ = Reason::kNone;
  bool is_sequence_ = false;
  bool lacking_ = false;
  const Header* stand_in_ = nullptr;  // for reseq-seq, which is not there
  DocumentId id_;
};

void Decoder::read_id() {
  const Header* header = found_.find(HeaderKind::kId);
  if (!record_.key) {
    if (header != nullptr && header->value && header->value->size() <= kMaxIdBytes) id_ = *header->value;
    if (header == nullptr) lacking_ = is_sequence_ && !failed();
    return refuse(header == nullptr ? Reason::kMissingId : Reason::kIdKeyMismatch);
  }
  if (record_.key->empty()) {
    lacking_ = is_sequence_ && !failed();
    return refuse(Reason::kEmptyId);
  }
  if (record_.key->size() > kMaxIdBytes) return refuse(Reason::kIdTooLong);
  if (header != nullptr) check_repeated_id();
}

// REQUIRES: there is one, and the key is the id.
void Decoder::check_repeated_id() {
  const Header* header = found_.find(HeaderKind::kId);
  if (!header->value) return refuse(Reason::kMalformedHeader);
  if (*header->value != *record_.key) refuse(Reason::kIdKeyMismatch);
}

// A request of a producer that knows other names. What the key or reseq-seq say in their place is not read.
void Decoder::read_elsewhere(const InputPlaces& places) {
  if (places.id.is_key())
    read_id();
  else
    read_id_in(find_header(record_.headers, places.id.header));
  if (!places.sequence) return;
  found_.forget(HeaderKind::kSeq);
  said_.kinds.remove(HeaderKind::kSeq);
  stand_in_ = find_header(record_.headers, places.sequence->header);
}

void Decoder::read_id_in(const Header* header) {
  id_ = {};
  if (header == nullptr) return refuse(Reason::kMissingId);
  if (!header->value) return refuse(Reason::kMalformedHeader);
  if (header->value->empty()) return refuse(Reason::kEmptyId);
  if (header->value->size() > kMaxIdBytes) return refuse(Reason::kIdTooLong);
  RESEQ_ASSERT(context_.arena != nullptr, "a decoder without a place for ids");
  record_.key = context_.arena->copy(*header->value);
  id_ = *record_.key;
  if (found_.has(HeaderKind::kId)) check_repeated_id();
}

void Decoder::check_partition() {
  if (failed() || context_.partitioner == Partitioner::kUnchecked) return;
  if (partition_of(id_, context_.partitioner, context_.partitions) != record_.partition) refuse(Reason::kMisrouted);
}

// The subject is the id, which the key says, too; the sequence stands in for reseq-seq, unless that stands elsewhere.
void Decoder::read_cloudevent() {
  const Header* subject = find_header(record_.headers, header::kCeSubject);
  if (subject != nullptr && subject->value != record_.key) refuse(Reason::kIdKeyMismatch);
  const bool elsewhere = context_.elsewhere != nullptr && context_.elsewhere->sequence;
  if (!found_.has(HeaderKind::kSeq) && !elsewhere) stand_in_ = find_header(record_.headers, header::kCeSequence);
}

Sequence Decoder::sequence() {
  const Header* header = found_.has(HeaderKind::kSeq) ? found_.find(HeaderKind::kSeq) : stand_in_;
  if (header == nullptr) {
    lacking_ = lacking_ || (is_sequence_ && !failed());
    refuse(Reason::kMissingSequence);
    return {};
  }
  if (!header->value) {
    refuse(Reason::kMalformedHeader);
    return {};
  }
  const auto parsed = parse_sequence(context_.sequence_kind, *header->value);
  if (!parsed) refuse(Reason::kMalformedSequence);
  return parsed.value_or(Sequence());
}

std::optional<TargetSet> Decoder::targets() {
  const auto list = text(HeaderKind::kTargets);
  if (!list) return std::nullopt;
  const auto parsed = parse_targets(*list, *context_.targets);
  if (const auto* reason = std::get_if<Reason>(&parsed)) {
    refuse(*reason);
    return std::nullopt;
  }
  said_.targets = std::get<TargetSet>(parsed);
  return said_.targets;
}

std::optional<TargetNumber> Decoder::target(std::string_view name) {
  const auto parsed = parse_target(name, *context_.targets);
  if (const auto* reason = std::get_if<Reason>(&parsed)) {
    refuse(*reason);
    return std::nullopt;
  }
  return std::get<TargetNumber>(parsed);
}

Op Decoder::op(bool payload_says) {
  const bool is_null = payload_says && !record_.payload;
  const auto name = text(HeaderKind::kOp);
  if (!name && is_null && !context_.explicit_deletes) return Op::kDelete;
  if (name == "delete") return Op::kDelete;
  if (name && name != "upsert")
    refuse(Reason::kMalformedHeader);
  else if (is_null)
    refuse(Reason::kOpPayloadConflict);
  return Op::kUpsert;
}

bool Decoder::flag(HeaderKind kind) {
  const auto value = text(kind);
  if (!value || *value == "false") return false;
  if (*value != "true") refuse(Reason::kMalformedHeader);
  return true;
}

Command Decoder::request() {
  if (found_.has(HeaderKind::kControl) || found_.has(HeaderKind::kControlId) ||
      found_.has(HeaderKind::kControlPartition))
    return reset();
  // Only the resequencer raises a revision.
  refuse_reserved();
  if (found_.has(HeaderKind::kRevision)) refuse(Reason::kUnsupportedHeader);
  if (const auto name = text(HeaderKind::kCommand); name && name != "register") refuse(Reason::kUnknownCommand);
  if (context_.elsewhere == nullptr)
    read_id();
  else
    read_elsewhere(*context_.elsewhere);
  check_partition();
  if (context_.cloudevents) read_cloudevent();

  Request request;
  request.what = {id_, {}, sequence(), Revision(), Op::kUpsert, {}, record_.headers};
  request.what.epoch = epoch();
  request.what.targets = targets();
  request.what.op = op(!context_.tap);
  request.reprocess = flag(HeaderKind::kReprocess);
  if (failed()) return refused();
  request.hash = payload_hash(request.what.op, record_.payload);
  request.work_bytes = bytes_max();
  if (stand_in_ != nullptr) request.work_bytes += header_bytes_max(header::kSeq.size(), kSequenceTextMax);
  return request;
}

Command Decoder::reset() {
  if (text(HeaderKind::kControl) != "reset") return refused(Reason::kUnknownControl);
  refuse_reserved();
  const auto default_epoch = epoch();
  const auto id = text(HeaderKind::kControlId);
  const auto partition = number<std::uint32_t>(HeaderKind::kControlPartition);
  if (!default_epoch || !id || id->empty() || !partition) refuse(Reason::kMalformedHeader);
  if (partition && static_cast<std::int64_t>(*partition) != record_.partition.value()) refuse(Reason::kMisrouted);
  if (failed()) return refused();
  return Reset{*default_epoch};
}

Command Decoder::command() {
  if (found_.has(HeaderKind::kControl) || found_.has(HeaderKind::kControlId) ||
      found_.has(HeaderKind::kControlPartition))
    refuse(Reason::kUnsupportedHeader);
  refuse_reserved();
  const auto name = text(HeaderKind::kCommand);
  if (name == "sequence") return sequence_result();
  if (name == "register") return register_command();
  if (name == "unregister") return unregister();
  return refused(Reason::kUnknownCommand);
}

Command Decoder::register_command() {
  read_id();
  check_partition();
  Registration what{id_, {}, sequence(), Revision(), Op::kUpsert, {}, record_.headers};
  what.epoch = epoch();
  what.revision = revision();
  what.targets = targets();
  what.op = op(false);
  if (failed()) return refused();
  return Register{what};
}

Command Decoder::unregister() {
  read_id();
  check_partition();
  Unregister command;
  command.id = id_;
  command.sequence = sequence();
  command.epoch = epoch();
  command.revision = revision();
  if (const auto name = text(HeaderKind::kTarget)) {
    command.everything = *name == "*";
    if (!command.everything)
      if (const auto number = target(*name)) command.targets = TargetSet::of(*number);
  } else if (const auto list = targets()) {
    command.targets = *list;
    command.from_list = true;
  } else {
    refuse(Reason::kMissingTarget);
  }
  if (failed()) return refused();
  return command;
}

Command Decoder::sequence_result() {
  is_sequence_ = true;
  SequenceResult result;
  read_sequence_result(result);
  if (failed()) return refused();
  return result;
}

void Decoder::read_sequence_result(SequenceResult& result) {
  read_id();
  check_partition();
  result.id = id_;
  result.sequence = sequence();
  result.epoch = epoch();
  result.revision = revision();
  if (const auto name = text(HeaderKind::kTarget))
    result.target = target(*name).value_or(TargetNumber());
  else if (context_.targets->names().size() != 1)
    refuse(Reason::kMissingTarget);
  result.op = op(true);
  result.observed = version(HeaderKind::kObservedVersion);
  result.output_bytes = bytes_max();
}

Command Decoder::operation() {
  const auto name = text(HeaderKind::kControl);
  const bool of_document = name == "expire" || name == "release";
  const bool of_partition = name == "raise-version-floor" || name == "pause" || name == "resume";
  if (!of_document && !of_partition) return refused(Reason::kUnknownControl);
  refuse_reserved();
  const auto id = text(HeaderKind::kControlId);
  const auto partition = number<std::uint32_t>(HeaderKind::kControlPartition);
  if (!id || id->empty() || id->size() > kMaxControlIdBytes || !partition) refuse(Reason::kMalformedHeader);
  if (partition && static_cast<std::int64_t>(*partition) != record_.partition.value()) refuse(Reason::kMisrouted);
  const bool dry_run = flag(HeaderKind::kControlDryRun);
  if (name == "expire") return expire(dry_run);
  if (name == "release") return release(dry_run);
  if (name == "raise-version-floor") return raise_floor(dry_run);
  if (failed()) return refused();
  return Pause{dry_run, name == "pause"};
}

std::optional<ExpectedRequest> Decoder::expected() {
  const auto digits = text(HeaderKind::kControlExpectedSeq);
  const auto epoch = number<std::uint32_t>(HeaderKind::kControlExpectedEpoch);
  if (!digits && epoch) refuse(Reason::kMissingSequence);
  if (!digits) return std::nullopt;
  const auto parsed = parse_sequence(context_.sequence_kind, *digits);
  if (!parsed) refuse(Reason::kMalformedSequence);
  return ExpectedRequest{Epoch(epoch.value_or(0)), parsed.value_or(Sequence())};
}

Command Decoder::expire(bool dry_run) {
  read_id();
  check_partition();
  Expire command{dry_run, id_, {}, expected()};
  if (const auto name = text(HeaderKind::kTarget))
    if (const auto number = target(*name)) command.targets = TargetSet::of(*number);
  if (failed()) return refused();
  return command;
}

Command Decoder::release(bool dry_run) {
  ReleaseByHand command{dry_run, flag(HeaderKind::kControlUnknown), {}, expected()};
  read_sequence_result(command.result);
  if (failed()) return refused();
  return command;
}

Command Decoder::raise_floor(bool dry_run) {
  RaiseFloor command;
  command.dry_run = dry_run;
  const auto floor = version(HeaderKind::kVersion);
  if (!floor || *floor == Version()) refuse(Reason::kMalformedHeader);
  command.floor = floor.value_or(Version());
  if (const auto name = text(HeaderKind::kTarget)) command.target = target(*name);
  command.expected = version(HeaderKind::kControlExpectedVersion);
  if (failed()) return refused();
  return command;
}

}  // namespace

Command decode(InputRecord& record, const DecodeContext& context) {
  RESEQ_ASSERT(context.targets != nullptr, "a decoder without a target table");
  const std::uint64_t added = record.role == Role::kRequests ? 0 : kHeadersAddedMax;
  if (record.headers.size() > context.headers_max + added) {
    record.headers_left_out = static_cast<std::uint32_t>(record.headers.size());
    record.headers = {};
  }
  Decoder decoder(record, context);
  if (record.headers_left_out > 0) return decoder.refused(Reason::kTooManyHeaders);
  switch (record.role) {
    case Role::kRequests:
      return decoder.request();
    case Role::kCommands:
      return decoder.command();
    case Role::kControl:
      return decoder.operation();
    default:
      break;
  }
  RESEQ_ASSERT(false, "a record of a topic that is no input");
  return Refused{};
}

}  // namespace reseq::codec
