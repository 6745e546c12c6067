// From a consumed record to a Command (schemas/wire.md). No Kafka types: pure.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "codec/header_names.h"
#include "codec/place.h"
#include "model/command.h"
#include "model/header.h"
#include "model/partition_state.h"

namespace reseq::codec {

// What was read of the headers of a record that goes on: the encoder has not to read it again.
struct Said {
  HeaderKinds kinds;
  std::optional<Epoch> epoch;
  std::optional<TargetSet> targets;                             // reseq-targets
  const std::optional<std::string_view>* key_in_log = nullptr;  // of a request that has its id in a header
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
  std::optional<Said> said;            // once it was decoded
  std::uint32_t headers_left_out = 0;  // so many that they are not looked at; then headers is empty
};

// As it was read: two who read it from its log know it by the same hash (KeyedHash::of_input).
[[nodiscard]] inline InputRecord as_in_log(InputRecord record) {
  if (record.said && record.said->key_in_log != nullptr) record.key = *record.said->key_in_log;
  return record;
}

// That work and a result have beside those of their request: what the contract and a pipeline add.
inline constexpr std::uint32_t kHeadersAddedMax = 32;

class KeyedHash;

struct DecodeContext {
  const TargetTable* targets = nullptr;
  SequenceKind sequence_kind = SequenceKind::kU64;
  Partitioner partitioner = Partitioner::kMurmur2;
  std::int32_t partitions = 1;
  bool tap = false;                        // a null payload on `requests` then says nothing about op
  bool cloudevents = false;                // profile: a request may say its id and sequence as CloudEvents do
  std::uint32_t headers_max = UINT32_MAX;  // of a request; more are left out
  bool explicit_deletes = false;           // a null payload deletes only with `reseq-op: delete`
  const InputPlaces* elsewhere = nullptr;  // where requests say id and sequence; null: in the key and in reseq-seq
  Arena* arena = nullptr;                  // for ids that requests have in a header, and for wishes
  bool journal = false;                    // requests may wait: what they wish is read
  bool failures = false;                   // workers may say that they could not do their work
  bool reads_again = false;                // requests: those that are dispatched later are known by place and hash
  const std::vector<std::string>* content_headers = nullptr;  // that count in content_hash(); null: nobody compares
  const KeyedHash* hash = nullptr;                            // of the partition, for either of these; else null
};

// Fills record.said. Never fails: what cannot be read becomes Refused with its reason. Of a doubled header the last one
// counts. The reason told is the first of: too_many_headers, unknown_control, unsupported_header, unknown_command
// (malformed_header when the name is null), the id's, misrouted, the sequence's, then whatever else is missing or
// malformed.
// Of a request that has its id in a header the key becomes a copy of it: headers move on with a record before all is
// said of it. A sequence that stands elsewhere counts as one that reseq-seq does not say.
// REQUIRES: role is kRequests, kCommands or kControl; context.targets is not null; an arena where ids are in a header,
// and with a journal.
[[nodiscard]] Command decode(InputRecord& record, const DecodeContext& context);

}  // namespace reseq::codec
