// Command: one decoded input record, or why it could not be one. Views point into the consumed record, which outlives
// the batch that decides it.
// Thread rule: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "model/header.h"
#include "model/ids.h"
#include "model/journal.h"
#include "model/order.h"
#include "model/reason.h"
#include "model/target.h"

namespace reseq {

inline constexpr std::size_t kMaxIdBytes = 4096;

// Of the name of an operation, which its event repeats.
inline constexpr std::size_t kMaxControlIdBytes = 256;

// The document id: any bytes, 1 .. kMaxIdBytes.
using DocumentId = std::string_view;

// What REGISTER says, whether it came as a request or as a command.
struct Registration {
  DocumentId id;
  std::optional<Epoch> epoch;  // absent: request = the partition's default, command = 0
  Sequence sequence;
  Revision revision;  // 0 on requests: only the resequencer raises it
  Op op = Op::kUpsert;
  std::optional<TargetSet> targets;  // explicit list; absent: routes decide
  std::span<const Header> headers;   // for routes
};

// When a request wants to be dispatched, where it lies, and what tells whether it asks for anything new.
struct Wish {
  std::optional<std::uint8_t> priority;
  std::optional<UnixMs> process_at;
  std::optional<UnixMs> expires_at;
  RequestPlace place;
  Digest content;  // codec::content_hash() of it; 0 = nobody asks
};

// A record of `requests` (REGISTER with `requested`).
struct Request {
  Registration what;
  bool reprocess = false;
  PayloadHash hash;              // over op, null-ness and payload
  std::uint64_t work_bytes = 0;  // upper bound of the record that would be forwarded to `work`
  const Wish* wish = nullptr;    // where one of it counts; null: there is none
};

// `reseq-command: register` on `commands`.
struct Register {
  Registration what;
};

// `reseq-command: unregister`.
struct Unregister {
  DocumentId id;
  std::optional<Epoch> epoch;
  Sequence sequence;
  Revision revision;
  TargetSet targets;        // empty when everything is set
  bool everything = false;  // `reseq-target: *`: all targets pending at the order
  bool from_list = false;   // named in `reseq-targets`, which a pipeline may have copied from `work` by accident
};

// `reseq-command: sequence`: the result of a document for one target.
struct SequenceResult {
  DocumentId id;
  std::optional<Epoch> epoch;
  Sequence sequence;
  Revision revision;
  TargetNumber target;
  Op op = Op::kUpsert;
  std::optional<Version> observed;  // `reseq-observed-version`
  std::uint64_t output_bytes = 0;   // upper bound of the record that would be released
  std::uint32_t attempt = 0;        // `reseq-attempt`, 0 = it does not say
};

// `reseq-command: heartbeat`: somebody works on this order, so its lease goes on.
struct Heartbeat {
  DocumentId id;
  std::optional<Epoch> epoch;
  Sequence sequence;
  Revision revision;
  std::uint32_t attempt = 0;  // `reseq-attempt`, 0 = it does not say
  UnixMs timestamp;           // of the record
};

// What a worker says of work that it could not do.
enum class FailureKind : std::uint8_t { kUnknown, kTransient, kPermanent };
// Whose fault it is: of this document, or of something that all need.
enum class FailureScope : std::uint8_t { kDocument, kUniversal };

// `reseq-command: fail`: this attempt did not deliver the order.
struct Fail {
  DocumentId id;
  std::optional<Epoch> epoch;
  Sequence sequence;
  Revision revision;
  TargetNumber target;
  bool everything = false;    // `reseq-target: *`: all targets that this attempt was dispatched for
  std::uint32_t attempt = 0;  // `reseq-attempt`, 0 = it does not say
  FailureKind kind = FailureKind::kUnknown;
  FailureScope scope = FailureScope::kDocument;
  bool without_effect = false;  // `reseq-effect: none`: nothing was done of it
  std::string_view error;       // `reseq-error`, cut to kMaxErrorBytes
};

// `reseq-control: reset` on `requests`: the absolute new default epoch of the partition.
struct Reset {
  Epoch default_epoch;
};

// The newest request that an operator has seen of a document: an operation that expects it happens to no other.
struct ExpectedRequest {
  Epoch epoch;
  Sequence sequence;
};

// `reseq-control: expire` on `control`: nobody waits any more for the results of a document.
struct Expire {
  bool dry_run = false;
  DocumentId id;
  TargetSet targets;  // empty: all that are pending
  std::optional<ExpectedRequest> expected;
};

// `reseq-control: dispatch-now` and `dispatch-postpone`: when what waits of a document is dispatched.
struct DispatchByHand {
  bool dry_run = false;
  DocumentId id;
  TargetSet targets;            // what waits for one of these; empty: all that waits
  std::optional<UnixMs> until;  // not before; none: at once and most urgent
  std::optional<ExpectedRequest> expected;
};

// `reseq-control: release`: a result that no registration waits for is the newest of its target all the same.
struct ReleaseByHand {
  bool dry_run = false;
  // Also when nothing is known of the document. It may have been forgotten: nobody can say then whether a newer result
  // has gone out.
  bool unknown = false;
  SequenceResult result;
  std::optional<ExpectedRequest> expected;
};

// `reseq-control: raise-version-floor`: stamps are above it from then on, of one target or of all.
struct RaiseFloor {
  bool dry_run = false;
  Version floor;
  std::optional<TargetNumber> target;
  std::optional<Version> expected;  // the floor so far, 0 = none
};

// `reseq-control: pause` and `resume`: of a partition, which decides nothing but operations while it is paused.
struct Pause {
  bool dry_run = false;
  bool paused = true;
};

// `reseq-control: resume-target`: a target that could not be reached is there again.
struct ResumeTarget {
  bool dry_run = false;
  TargetNumber target;
};

// `reseq-control: skip`: an ordered target does not wait for this order any more: its lane passes its place by. The
// order is named, so that a record that comes twice does not take the next one with it.
struct SkipPlace {
  bool dry_run = false;
  DocumentId id;
  std::optional<Epoch> epoch;
  Sequence sequence;
  Revision revision;
  TargetNumber target;
};

// A record that is none of the above. It is an ordinary input with an ordinary outcome.
struct Refused {
  Reason reason = Reason::kNone;
  bool sequence_without_id_or_seq = false;  // the case for which policy on_missing exists
  DocumentId id;                            // as far as known, may be empty
  bool operation = false;                   // it came on `control`
};

using Command = std::variant<Request, Register, Unregister, SequenceResult, Heartbeat, Fail, Reset, Expire,
                             DispatchByHand, ReleaseByHand, RaiseFloor, Pause, ResumeTarget, SkipPlace, Refused>;

}  // namespace reseq
