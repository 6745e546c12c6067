// From a consumed record to a Command (DESIGN 4; schemas/wire.md). No Kafka types: pure.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "codec/header_names.h"
#include "model/command.h"
#include "model/header.h"
#include "model/partition_state.h"

namespace reseq::codec {

// What was read of the headers of a record that goes on: the encoder has not to read it again.
struct Said {
  HeaderKinds kinds;
  std::optional<Epoch> epoch;
  std::optional<TargetSet> targets;  // reseq-targets
};

// A consumed record. Its bytes outlive the batch.
struct InputRecord {
  Role role = Role::kRequests;
  Partition partition;
  Offset offset;
  UnixMs timestamp;
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;
  std::span<const Header> headers;
  std::optional<Said> said;  // once it was decoded
};

struct DecodeContext {
  const TargetTable* targets = nullptr;
  SequenceKind sequence_kind = SequenceKind::kU64;
  Partitioner partitioner = Partitioner::kMurmur2;
  std::int32_t partitions = 1;
  bool tap = false;          // a null payload on `requests` then says nothing about op
  bool cloudevents = false;  // profile: a request may say its id and sequence as CloudEvents do
};

// Fills record.said. Never fails: what cannot be read becomes Refused with its reason. Of a doubled header the last one
// counts. The reason told is the first of: unknown_control, unsupported_header, unknown_command, the id's, misrouted,
// the sequence's, then whatever else is missing or malformed.
// REQUIRES: role is kRequests, kCommands or kControl; context.targets is not null.
[[nodiscard]] Command decode(InputRecord& record, const DecodeContext& context);

}  // namespace reseq::codec
