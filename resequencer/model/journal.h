// Journal: orders of a document that wait for their dispatch to `work`, and those that are under way since. They are
// part of its row (model/row.h).
// Thread rule: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.h"
#include "model/order.h"
#include "model/target.h"

namespace reseq {

enum class Op : std::uint8_t { kUpsert, kDelete };

// When an order is to be dispatched: the smallest priority first, then the earliest date.
struct Urgency {
  std::uint8_t priority = 100;
  UnixMs inserted;           // date of the first request that it stands for
  UnixMs process_at;         // not before; never before `inserted`
  UnixMs expires_at;         // nobody wants it from then on; 0 = never
  UnixMs consolidate_until;  // a newer order may take its place until then; 0 = it is not consolidated
  friend bool operator==(const Urgency&, const Urgency&) = default;
};

// Where the request of an order lies in `requests`, so that it can be read again, and how large it is.
struct RequestPlace {
  Offset offset;
  UnixMs timestamp;
  std::uint64_t hash = 0;  // codec::KeyedHash::of_input() of its record
  std::uint64_t record_bytes = 0;
  std::uint64_t work_bytes = 0;  // upper bound of the record that leaves
  friend bool operator==(const RequestPlace&, const RequestPlace&) = default;
};

// In the place of leases lost: more than any limit.
inline constexpr std::uint32_t kGivenUp = UINT32_MAX;

enum class EntryState : std::uint8_t {
  kWaiting,     // to be dispatched; its record is held under its number
  kProcessing,  // dispatched, and a target is still pending
  // It ended before it was dispatched: for requests it stands as if it had been, nothing else sees it.
  kGone,
};

// What the journal knows of one request. Invariants of those of a document: targets are not empty, but for a kGone
// delete for all; those of one order have no target in common; one that is under way has targets that are pending at
// its order, one that was such or ones that stayed behind, of which nothing is known there (Row::wanted).
struct JournalEntry {
  Order order;
  EntryState state = EntryState::kWaiting;
  Op op = Op::kUpsert;
  bool for_all = false;  // a delete that was meant for all targets
  TargetSet targets;     // still to be dispatched; of a processing one, those that its dispatch carried and still wait
  std::uint64_t number = 0;  // given out once in the partition: when it began to wait, when it was dispatched
  Urgency urgency;
  std::uint32_t attempt = 0;   // of its last dispatch, 0 = there was none
  std::uint32_t timeouts = 0;  // leases lost while others ended; kGivenUp = it failed for good
  std::uint32_t losses = 0;    // leases lost while nobody did
  UnixMs retry_at;             // of a waiting one that could not leave, or lost its lease: not before; 0 = at once
  TargetSet taken_over;        // those that were pending at an older order whose entry this one took over
  UnixMs lease_until;          // of a processing one
  UnixMs dispatched_at;        // likewise
  RequestPlace request;

  // It is under way, and gives that back: without a lease nobody may ever do so.
  [[nodiscard]] bool takes_room() const { return state == EntryState::kProcessing && lease_until != UnixMs(); }
  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

// The most urgent priority of what a document waits for, and of what it has under way; none = nothing.
struct DocumentPriorities {
  std::optional<std::uint8_t> waiting;
  std::optional<std::uint8_t> processing;
  friend bool operator==(const DocumentPriorities&, const DocumentPriorities&) = default;
};

// Documents by the priority of what they wait for or have under way. One that has several counts for the most urgent.
struct PriorityCount {
  std::uint8_t priority = 0;
  std::uint64_t waiting = 0;
  std::uint64_t processing = 0;
  friend bool operator==(const PriorityCount&, const PriorityCount&) = default;
};

}  // namespace reseq
