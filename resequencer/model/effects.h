// Effects: what a decision says should happen. The engine returns them, the runtime makes them happen.
// Thread rule: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/command.h"
#include "model/header.h"
#include "model/ids.h"
#include "model/reason.h"
#include "model/row.h"

namespace reseq {

// Every input has exactly one of these.
enum class Outcome : std::uint8_t {
  kForwarded,     // request registered and sent to `work`
  kRegistered,    // registered, nothing to send
  kReleased,      // result sent to its target
  kRemoved,       // UNREGISTER took effect
  kApplied,       // control record took effect
  kDropped,       // stopped, with a reason
  kDeadLettered,  // stopped and kept, with a reason
  kRedirected,    // policy on_missing: sent to the topic configured for it, with a reason
  kStopped,       // policy on_missing = stop: not consumed; the partition is parked
  kWaiting,       // request registered in the journal, to be sent to `work` later
  kUnchanged,     // request registered as served: its targets have what it asks for
  kHeld,          // result kept until those in front of it in its lane have left
  kCount,
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Outcome::kCount)> kOutcomeNames = {
    "forwarded",     "registered", "released", "removed", "applied",   "dropped",
    "dead_lettered", "redirected", "stopped",  "waiting", "unchanged", "held"};
[[nodiscard]] constexpr std::string_view name_of(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

// The row of the decision tables that an input met.
enum class TableRow : std::uint8_t {
  kNone,  // refused before any table
  kR0,
  kR1,
  kR2,
  kR3,
  kR4,
  kR5,
  kR6,
  kR7,
  kU1,
  kU2,
  kU3,
  kU4,
  kU5,
  kS0,
  kS1,
  kS2,
  kS3,
  kS4,
  kS5,
  kS6,
  kF0,
  kF1,
  kF2,
  kF3,
  kF4,
  kF5,
  kF6,
  kO1,
  kO2,
  kO3,
  kO4,
  kO5,
  kControl,
  kCount,
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(TableRow::kCount)> kTableRowNames = {
    "-",  "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "U1", "U2", "U3", "U4", "U5", "S0", "S1", "S2",
    "S3", "S4", "S5", "S6", "F0", "F1", "F2", "F3", "F4", "F5", "F6", "O1", "O2", "O3", "O4", "O5", "control"};
[[nodiscard]] constexpr std::string_view name_of(TableRow row) {
  return kTableRowNames[static_cast<std::size_t>(row)];
}

struct Decision {
  Outcome outcome = Outcome::kDropped;
  Reason reason = Reason::kNone;
  TableRow table_row = TableRow::kNone;
  friend bool operator==(const Decision&, const Decision&) = default;
};

// Index of an input within its batch.
using InputIndex = Strong<struct InputIndexTag, std::uint32_t>;
inline constexpr InputIndex kNoInput{UINT32_MAX};  // of what a timer caused

// What a journal says of the order that it dispatches.
struct Dispatched {
  std::uint32_t attempt = 1;
  UnixMs lease_until;  // 0 = it has none
};

struct Forward {  // to `work`
  Order order;
  Op op = Op::kUpsert;
  TargetSet targets;
  const Dispatched* dispatched = nullptr;  // of a journal; it lives as long as the batch

  [[nodiscard]] std::uint32_t attempt() const { return dispatched != nullptr ? dispatched->attempt : 1; }
};

struct Release {  // to the output of `target`
  TargetNumber target;
  Order order;
  Op op = Op::kUpsert;
  Version version;
};

// Of a request that is given up. It lives as long as the batch.
struct GivenUp {
  std::uint64_t gone = 0;                      // bytes of its record, of which the letter has nothing but its place
  TargetSet targets = {};                      // that have no result of it; empty: it did not wait for work
  std::optional<std::uint32_t> attempts = {};  // number of the last one; none: they are not counted
  std::string_view error = {};                 // and what was said last
};

struct DeadLetter {
  Reason reason = Reason::kNone;
  std::optional<Order> expected = {};  // the newest order known, where there is one
  const GivenUp* given_up = nullptr;
};

// In the place of a result: there is none, and why. It lives as long as the batch.
struct NoResult {
  DocumentId id;
  Order order;
  Version version;
  Reason reason = Reason::kNone;
  std::uint32_t attempts = 0;
  UnixMs at;
  std::string_view error;  // empty: nobody said one
};
struct Marker {  // to the output of `target`
  TargetNumber target;
  const NoResult* what = nullptr;
};

struct Redirect {  // policy on_missing = a topic
  Reason reason = Reason::kNone;
};

// A record of which nothing comes from an input. Its bytes live as long as the batch, so they are none of an input's
// headers: those leave with the record that takes them over.
struct GeneratedRecord {
  Role to = Role::kControl;
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;
  std::span<const Header> headers;
};
struct Generated {
  const GeneratedRecord* record = nullptr;
};

// One record to produce. Payload and headers come from the input named, never copied by the engine; several may have
// the same input.
struct Emission {
  InputIndex input;  // kNoInput: only of what was generated; behind the inputs come the held records let through
  std::variant<Forward, Release, DeadLetter, Redirect, Generated, Marker> what;
  std::optional<Partition> partition = {};  // absent: by the key
};

enum class EventKind : std::uint8_t { kOutcome, kOverdue, kReset, kOperation, kLeaseLost, kTargetDown, kTargetUp };

// What is told on `events`: of an outcome, a timer or an operation.
struct Event {
  InputIndex input = kNoInput;
  EventKind kind = EventKind::kOutcome;
  bool dry_run = false;  // of an operation: `decision` is what would have been
  DocumentId id;
  Decision decision;
  std::optional<Order> order;
  std::optional<Order> expected;
  std::optional<TargetNumber> target;
  std::optional<Version> version;
  // kOverdue: those that wait and get nothing; kLeaseLost: those that it was dispatched for; of what is dispatched,
  // waits for it, or did: those
  TargetSet targets;
  std::uint32_t attempt = 0;  // that it is about, 0 = none, or nobody said
  // Of what waited: where a producer has it from; empty: that is not known here. It lives as long as the batch.
  std::string_view document_source = {};
};

// Where a held record is found when it is due. Entries of an index may have any lengths up to the maximum: the shorter
// one is less, those of one length compare byte by byte.
struct IndexEntry {
  std::uint8_t index = 0;
  std::string_view bytes;
};
inline constexpr std::size_t kMaxIndexEntryBytes = 64;
inline constexpr std::uint8_t kIndexes = 0x80;  // numbers of indexes are below

// An input that a gate keeps, or what it held by its place and holds whole from now on. The record becomes rows of the
// state; the engine sees nothing of its payload. The bytes live as long as the batch.
struct Hold {
  InputIndex input;
  std::string_view key;  // of its first row
  std::vector<IndexEntry> entries;
  std::string_view note;             // what the gate has to know of it
  std::uint64_t bytes = 0;           // upper bound of the record that leaves later
  bool reference = false;            // where it was read is enough: it is read again when it is let through
  std::string_view extensions = {};  // of the row that it replaces
};

// What a gate held, let through, or held by its place and read again to be held whole; or, by the key of its row, a
// place in a lane that ended, of which there is no record. It lives as long as the batch.
struct LetThrough {
  std::string_view key;  // of its first row, as it stands before the batch
  DocumentId id;
  std::optional<Offset> gone;  // a reference whose record is not in its log any more: where that was
  std::string_view row;        // the first row, which was decoded once; empty: it was not
};

// One document's whole row after the batch. Both live as long as the batch.
struct RowChange {
  DocumentId id;
  const Row* row = nullptr;  // null = gone
  std::uint32_t place = 0;   // of the document, as the state's view said when it was looked up
};

// What was not looked up in the state's view has no place there.
inline constexpr std::uint32_t kNoPlace = UINT32_MAX;

// The whole row of another kind after the batch, encoded. It lives as long as the batch.
struct KeyedChange {
  std::string_view key;
  std::optional<std::string_view> value;  // none = gone
  std::uint32_t place = kNoPlace;         // as the state's view said when it was looked up
};

}  // namespace reseq
