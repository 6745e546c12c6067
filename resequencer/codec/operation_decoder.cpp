#include "codec/operation_decoder.h"

#include "codec/document_decoder.h"
#include "codec/sequence_text.h"

namespace reseq::codec {
namespace {

// Only one operation has a date.
constexpr HeaderKinds kRefusedWithDate =
    kOfFailures | HeaderKinds{HeaderKind::kReserved, HeaderKind::kPriority, HeaderKind::kExpiresAt,
                              HeaderKind::kAttempt, HeaderKind::kLeaseUntil};
constexpr HeaderKinds kRefused = kRefusedWithDate | HeaderKinds{HeaderKind::kProcessAt};

std::optional<ExpectedRequest> expected(RecordReader& reader) {
  const auto digits = reader.text(HeaderKind::kControlExpectedSeq);
  const auto epoch = reader.number<std::uint32_t>(HeaderKind::kControlExpectedEpoch);
  if (!digits && epoch) reader.refuse(Reason::kMissingSequence);
  if (!digits) return std::nullopt;
  const auto parsed = parse_sequence(reader.context().sequence_kind, *digits);
  if (!parsed) reader.refuse(Reason::kMalformedSequence);
  return ExpectedRequest{Epoch(epoch.value_or(0)), parsed.value_or(Sequence())};
}

// That an operation has to name.
TargetNumber read_target(RecordReader& reader) {
  const auto name = reader.text(HeaderKind::kTarget);
  const auto target = name ? reader.target(*name) : std::nullopt;
  if (!name) reader.refuse(Reason::kMissingTarget);
  return target.value_or(TargetNumber());
}

Command expire(RecordReader& reader, bool dry_run) {
  reader.read_id();
  reader.check_partition();
  Expire command{dry_run, reader.id(), {}, expected(reader)};
  if (const auto name = reader.text(HeaderKind::kTarget))
    if (const auto number = reader.target(*name)) command.targets = TargetSet::of(*number);
  if (reader.failed()) return reader.refused();
  return command;
}

Command dispatch(RecordReader& reader, bool dry_run, bool postpones) {
  reader.read_id();
  reader.check_partition();
  DispatchByHand command{dry_run, reader.id(), {}, {}, expected(reader)};
  if (const auto name = reader.text(HeaderKind::kTarget))
    if (const auto number = reader.target(*name)) command.targets = TargetSet::of(*number);
  if (postpones) {
    command.until = reader.date(HeaderKind::kProcessAt, 0);
    if (!command.until) reader.refuse(Reason::kMalformedHeader);
  }
  if (reader.failed()) return reader.refused();
  return command;
}

Command skip(RecordReader& reader, bool dry_run) {
  reader.read_id();
  reader.check_partition();
  // What is to be skipped is named as commands name it. An expectation beside it would go unheard.
  reader.refuse_any({HeaderKind::kControlExpectedSeq, HeaderKind::kControlExpectedEpoch});
  SkipPlace command;
  command.dry_run = dry_run;
  command.id = reader.id();
  command.sequence = reader.sequence();
  command.epoch = reader.epoch();
  command.revision = reader.revision();
  command.target = read_target(reader);
  if (reader.failed()) return reader.refused();
  return command;
}

Command release(RecordReader& reader, bool dry_run) {
  ReleaseByHand command{dry_run, reader.flag(HeaderKind::kControlUnknown), {}, expected(reader)};
  read_result(reader, command.result);
  if (reader.failed()) return reader.refused();
  return command;
}

Command raise_floor(RecordReader& reader, bool dry_run) {
  RaiseFloor command;
  command.dry_run = dry_run;
  const auto floor = reader.version(HeaderKind::kVersion);
  if (!floor || *floor == Version()) reader.refuse(Reason::kMalformedHeader);
  command.floor = floor.value_or(Version());
  if (const auto name = reader.text(HeaderKind::kTarget)) command.target = reader.target(*name);
  command.expected = reader.version(HeaderKind::kControlExpectedVersion);
  if (reader.failed()) return reader.refused();
  return command;
}

Command resume_target(RecordReader& reader, bool dry_run) {
  ResumeTarget command;
  command.dry_run = dry_run;
  command.target = read_target(reader);
  if (reader.failed()) return reader.refused();
  return command;
}

}  // namespace

Command decode_reset(RecordReader& reader) {
  if (reader.text(HeaderKind::kControl) != "reset") return reader.refused(Reason::kUnknownControl);
  reader.refuse_any(kRefused);
  const auto default_epoch = reader.epoch();
  const auto id = reader.text(HeaderKind::kControlId);
  const auto partition = reader.number<std::uint32_t>(HeaderKind::kControlPartition);
  if (!default_epoch || !id || id->empty() || !partition) reader.refuse(Reason::kMalformedHeader);
  if (partition && static_cast<std::int64_t>(*partition) != reader.record().partition.value())
    reader.refuse(Reason::kMisrouted);
  if (reader.failed()) return reader.refused();
  return Reset{*default_epoch};
}

Command decode_operation(RecordReader& reader) {
  const auto name = reader.text(HeaderKind::kControl);
  const bool postpones = name == "dispatch-postpone";
  const bool of_document =
      name == "expire" || name == "release" || name == "skip" || name == "dispatch-now" || postpones;
  const bool of_partition =
      name == "raise-version-floor" || name == "pause" || name == "resume" || name == "resume-target";
  if (!of_document && !of_partition) return reader.refused(Reason::kUnknownControl);
  reader.refuse_any(postpones ? kRefusedWithDate : kRefused);
  const auto id = reader.text(HeaderKind::kControlId);
  const auto partition = reader.number<std::uint32_t>(HeaderKind::kControlPartition);
  if (!id || id->empty() || id->size() > kMaxControlIdBytes || !partition) reader.refuse(Reason::kMalformedHeader);
  if (partition && static_cast<std::int64_t>(*partition) != reader.record().partition.value())
    reader.refuse(Reason::kMisrouted);
  const bool dry_run = reader.flag(HeaderKind::kControlDryRun);
  if (name == "expire") return expire(reader, dry_run);
  if (name == "dispatch-now" || postpones) return dispatch(reader, dry_run, postpones);
  if (name == "release") return release(reader, dry_run);
  if (name == "skip") return skip(reader, dry_run);
  if (name == "raise-version-floor") return raise_floor(reader, dry_run);
  if (name == "resume-target") return resume_target(reader, dry_run);
  if (reader.failed()) return reader.refused();
  return Pause{dry_run, name == "pause"};
}

}  // namespace reseq::codec
