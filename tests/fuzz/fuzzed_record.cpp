#include "fuzzed_record.h"

#include <array>
#include <utility>

#include "codec/header_names.h"

namespace reseq::fuzz {
namespace {

namespace header = codec::header;

constexpr std::uint8_t kJournal = 2;

constexpr std::array<std::string_view, 29> kNames = {header::kCommand,
                                                     header::kId,
                                                     header::kSeq,
                                                     header::kEpoch,
                                                     header::kRevision,
                                                     header::kOp,
                                                     header::kTargets,
                                                     header::kTarget,
                                                     header::kReprocess,
                                                     header::kObservedVersion,
                                                     header::kVersion,
                                                     header::kControl,
                                                     header::kControlId,
                                                     header::kReason,
                                                     header::kSourceTopic,
                                                     header::kSourcePartition,
                                                     header::kSourceOffset,
                                                     header::kExpectedSeq,
                                                     "reseq-order",
                                                     "reseq-control-x",
                                                     header::kControlPartition,
                                                     "traceparent",
                                                     header::kKeyOmitted,
                                                     header::kPayloadOmitted,
                                                     header::kPriority,
                                                     header::kProcessAt,
                                                     header::kExpiresAt,
                                                     header::kAttempt,
                                                     header::kLeaseUntil};

const TargetTable& table_of(std::size_t choice) {
  static const TargetTable full = [] {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kMaxTargets; ++i) names.push_back("target-" + std::to_string(i));
    return TargetTable(std::move(names));
  }();
  static const TargetTable none;
  const std::array<const TargetTable*, 4> tables = {&codec::two_targets(), &codec::one_target(), &full, &none};
  return *tables[choice];
}

// 0 null, 1 "doc-1", 2 any
std::optional<std::string> read_bytes(Pieces& pieces) {
  switch (pieces.below(3)) {
    case 0:
      return std::nullopt;
    case 1:
      return "doc-1";
    default:
      return pieces.text();
  }
}

}  // namespace

FuzzedRecord read_record(Pieces& pieces) {
  const auto role = static_cast<Role>(pieces.below(3));
  codec::DecodeContext context;
  context.sequence_kind = static_cast<SequenceKind>(pieces.below(4));
  context.partitioner = static_cast<Partitioner>(pieces.below(3));
  const std::size_t profile = pieces.below(4);
  context.cloudevents = profile % 2 == 1;
  context.explicit_deletes = profile >= 2;
  context.targets = &table_of(pieces.below(4));
  context.partitions = 1 + static_cast<std::int32_t>(pieces.below(3));
  // Requests wait with inline intake only.
  constexpr std::uint8_t kTap = 1;
  const std::uint8_t mode = pieces.byte();
  context.tap = (mode & kTap) != 0;
  context.journal = !context.tap && (mode & kJournal) != 0;
  static const codec::KeyedHash hash{HashKey{}};
  context.hash = context.journal ? &hash : nullptr;
  auto arena = std::make_unique<Arena>();
  context.arena = arena.get();
  codec::SampleRecord record(role);
  (void)std::move(record).key(read_bytes(pieces));
  (void)std::move(record).payload(read_bytes(pieces));
  for (std::size_t count = pieces.below(16); count > 0; --count) {
    const std::size_t name = pieces.below(kNames.size() + 1);
    std::string bytes = name < kNames.size() ? std::string(kNames[name]) : pieces.text();
    const bool is_null = pieces.below(16) == 15;
    record.with(std::move(bytes), is_null ? std::nullopt : std::optional(pieces.text()));
  }
  return {std::move(record), context, std::move(arena)};
}

std::string write_record(Role role, SequenceKind kind, std::initializer_list<WrittenHeader> headers, bool journal) {
  const auto byte = [](std::size_t value) { return static_cast<char>(value); };
  // partitioner murmur2, two targets, one partition, inline, key and payload "doc-1"
  std::string input = {byte(static_cast<std::size_t>(role)),
                       byte(static_cast<std::size_t>(kind)),
                       0,
                       0,
                       0,
                       0,
                       byte(journal ? kJournal : 0),
                       1,
                       1};
  input += byte(headers.size());
  for (const WrittenHeader& one : headers) {
    const auto known = std::find(kNames.begin(), kNames.end(), one.name);
    input += byte(static_cast<std::size_t>(known - kNames.begin()));
    if (known == kNames.end()) input += Pieces::of(one.name);
    input += '\0';  // not null
    input += Pieces::of(one.value);
  }
  return input;
}

}  // namespace reseq::fuzz
