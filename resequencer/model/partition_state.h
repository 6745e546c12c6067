// What is known of a partition beside its rows: the part that decisions read (PartitionState), and the meta, identity
// and target rows that make a changelog self-describing.
// Thread rule: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/breaker.h"
#include "model/ids.h"
#include "model/order.h"
#include "model/release_times.h"
#include "model/summary.h"
#include "model/target.h"

namespace reseq {

// Raised by an operator above the versions that an existing index already holds.
struct Floors {
  Version global;
  std::map<TargetNumber, Version> by_target;
  friend bool operator==(const Floors&, const Floors&) = default;
};

// The part of the meta row that decisions read and change.
struct PartitionState {
  Version clock;  // max over all batches of now << 16: never behind, whatever the host's clock says
  Version last;   // the last stamp given
  Floors floors;
  Epoch default_epoch;
  bool paused = false;                 // by an operator: nothing but operations is decided
  std::uint64_t journal_number = 0;    // last one given to an entry of the journal or a dispatch
  std::uint64_t journal_answered = 0;  // highest number of a dispatch that a command has ended
  ReleaseTimes release_times;
  std::vector<Breaker> breakers;  // by target
  std::uint64_t lane_number = 0;  // last one given to a place in a lane, or to a document that has some
  friend bool operator==(const PartitionState&, const PartitionState&) = default;
};

struct InputPosition {
  Role role = Role::kRequests;
  Offset next;  // next offset to read
  friend bool operator==(const InputPosition&, const InputPosition&) = default;
};

// The last decided record of one input. A topic that was deleted and made anew has another one there.
struct InputPin {
  Role role = Role::kRequests;
  Offset offset;
  UnixMs timestamp;
  std::uint64_t hash = 0;  // of key and payload
  friend bool operator==(const InputPin&, const InputPin&) = default;
};

// Records [first, end) of one input that a batch decided. With `now` they make the state a function of the log.
struct InputRange {
  Role role = Role::kRequests;
  Offset first;
  Offset end;
  friend bool operator==(const InputRange&, const InputRange&) = default;
};

// One takeover. Generation = last one in the log + 1.
struct Generation {
  std::uint64_t number = 0;
  Offset restore_target;  // high watermark restored to: a lower bound of this generation's first changelog offset
  friend bool operator==(const Generation&, const Generation&) = default;
};
inline constexpr std::size_t kMaxLineage = 32;

// What a batch did of one kind of the agenda: with it, what came of the batch is a function of the log.
struct AgendaDone {
  std::uint8_t kind = 0;
  UnixMs until;            // what was due by then
  std::uint32_t rows = 0;  // so many of them, from the first
  friend bool operator==(const AgendaDone&, const AgendaDone&) = default;
};

// The last record of a partition in every transaction that touches it.
struct Meta {
  PartitionState state;
  std::vector<InputPosition> positions;
  std::vector<InputRange> ranges;
  UnixMs now;                        // of the batch
  std::vector<Generation> lineage;   // oldest first, at most kMaxLineage
  Summary summary;                   // of all rows but this one
  std::string sweep_cursor;          // key behind the last one the watermark sweep looked at; empty = at the start
  std::string swept_from, swept_to;  // key range swept by this batch, empty = none
  std::uint64_t config_hash = 0;
  std::vector<InputPin> pins;
  std::uint64_t capabilities = 0;  // bits: a version that does not have one of them must not open the state
  std::vector<AgendaDone> agenda;  // by kind; none with nothing done
  // Of `requests`, rising: records of what was to be let through, or held whole, by reference that are gone, and those
  // that could not be read.
  std::vector<Offset> gone;
  std::vector<Offset> unreadable;
  std::string extensions;
  friend bool operator==(const Meta&, const Meta&) = default;
};

enum class Partitioner : std::uint8_t { kMurmur2 = 0, kCrc32 = 1, kUnchecked = 2 };

// What must never change under a living state; compared at every takeover.
struct Identity {
  std::string application_id;
  std::string cluster_id;
  std::int32_t partitions = 0;  // of the inputs and the changelog
  SequenceKind sequence_kind = SequenceKind::kU64;
  Partitioner partitioner = Partitioner::kMurmur2;
  HashKey hash_key;
  UnixMs born;
  std::string extensions;
  friend bool operator==(const Identity&, const Identity&) = default;
};

}  // namespace reseq
