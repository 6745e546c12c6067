// The headers of the wire contract by name (schemas/wire.md), and one pass that finds them in a record.
// Thread rule: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "model/header.h"

namespace reseq::codec {

namespace header {

inline constexpr std::string_view kCommand = "reseq-command";
inline constexpr std::string_view kId = "reseq-id";
inline constexpr std::string_view kSeq = "reseq-seq";
inline constexpr std::string_view kEpoch = "reseq-epoch";
inline constexpr std::string_view kRevision = "reseq-revision";
inline constexpr std::string_view kOp = "reseq-op";
inline constexpr std::string_view kTargets = "reseq-targets";
inline constexpr std::string_view kTarget = "reseq-target";
inline constexpr std::string_view kReprocess = "reseq-reprocess";
inline constexpr std::string_view kObservedVersion = "reseq-observed-version";
inline constexpr std::string_view kPriority = "reseq-priority";
inline constexpr std::string_view kProcessAt = "reseq-process-at";
inline constexpr std::string_view kExpiresAt = "reseq-expires-at";
inline constexpr std::string_view kAttempt = "reseq-attempt";
inline constexpr std::string_view kLeaseUntil = "reseq-lease-until";
inline constexpr std::string_view kFailure = "reseq-failure";
inline constexpr std::string_view kFailureScope = "reseq-failure-scope";
inline constexpr std::string_view kEffect = "reseq-effect";
inline constexpr std::string_view kError = "reseq-error";
inline constexpr std::string_view kSource = "reseq-source";
inline constexpr std::string_view kVersion = "reseq-version";
inline constexpr std::string_view kControl = "reseq-control";
inline constexpr std::string_view kControlId = "reseq-control-id";
inline constexpr std::string_view kControlPartition = "reseq-control-partition";
inline constexpr std::string_view kControlDryRun = "reseq-control-dry-run";
inline constexpr std::string_view kControlUnknown = "reseq-control-unknown";
inline constexpr std::string_view kControlExpectedSeq = "reseq-control-expected-seq";
inline constexpr std::string_view kControlExpectedEpoch = "reseq-control-expected-epoch";
inline constexpr std::string_view kControlExpectedVersion = "reseq-control-expected-version";

// Written on dead letters only; what an input says there is never read, but in kFirstWritten, which only falls.
inline constexpr std::string_view kReason = "reseq-reason";
inline constexpr std::string_view kSourceTopic = "reseq-source-topic";
inline constexpr std::string_view kSourcePartition = "reseq-source-partition";
inline constexpr std::string_view kSourceOffset = "reseq-source-offset";
inline constexpr std::string_view kExpectedSeq = "reseq-expected-seq";
inline constexpr std::string_view kFirstWritten = "reseq-first-written";
inline constexpr std::string_view kPayloadOmitted = "reseq-payload-omitted";
inline constexpr std::string_view kHeadersOmitted = "reseq-headers-omitted";
inline constexpr std::string_view kKeyOmitted = "reseq-key-omitted";
inline constexpr std::string_view kAttempts = "reseq-attempts";

// Of other contracts. The first two travel on, and events tell of them (W3C Trace Context); the others are read and
// written with profile = cloudevents only (CloudEvents 1.0, Kafka binding, extension Sequence).
inline constexpr std::string_view kTraceParent = "traceparent";
inline constexpr std::string_view kTraceState = "tracestate";
inline constexpr std::string_view kCeSpecVersion = "ce_specversion";
inline constexpr std::string_view kCeId = "ce_id";
inline constexpr std::string_view kCeSource = "ce_source";
inline constexpr std::string_view kCeType = "ce_type";
inline constexpr std::string_view kCeSubject = "ce_subject";
inline constexpr std::string_view kCeSequence = "ce_sequence";

}  // namespace header

// The last header of this name, null when there is none. For names that have no kind.
[[nodiscard]] const Header* find_header(std::span<const Header> headers, std::string_view name);

// What an input's header is to the decoder. Everything it does not read is kOther and travels on.
enum class HeaderKind : std::uint8_t {
  kOther,
  kCommand,
  kId,
  kSeq,
  kEpoch,
  kRevision,
  kOp,
  kTargets,
  kTarget,
  kReprocess,
  kObservedVersion,
  kVersion,
  kControl,
  kControlId,
  kControlPartition,
  kControlDryRun,
  kControlUnknown,
  kControlExpectedSeq,
  kControlExpectedEpoch,
  kControlExpectedVersion,
  kPriority,
  kProcessAt,
  kExpiresAt,
  kAttempt,
  kLeaseUntil,
  kFailure,
  kFailureScope,
  kError,
  kEffect,
  kReserved,  // reserved::kHeaders and any other `reseq-control-...`
  kCount,
};

[[nodiscard]] HeaderKind kind_of(std::string_view name);
// What requests wish of a journal, and what it writes on work.
[[nodiscard]] bool is_of_journal(std::string_view name);

// A set of kinds.
class HeaderKinds {
 public:
  constexpr HeaderKinds() = default;
  constexpr HeaderKinds(std::initializer_list<HeaderKind> kinds) {
    for (const HeaderKind kind : kinds) add(kind);
  }
  constexpr void add(HeaderKind kind) { bits_ |= bit(kind); }
  void remove(HeaderKind kind) { bits_ &= ~bit(kind); }
  friend constexpr HeaderKinds operator|(HeaderKinds a, HeaderKinds b) {
    a.bits_ |= b.bits_;
    return a;
  }
  [[nodiscard]] bool has(HeaderKind kind) const { return (bits_ & bit(kind)) != 0; }
  [[nodiscard]] bool has_any(HeaderKinds of) const { return (bits_ & of.bits_) != 0; }

 private:
  static_assert(static_cast<unsigned>(HeaderKind::kCount) <= 64);
  static constexpr std::uint64_t bit(HeaderKind kind) { return std::uint64_t{1} << static_cast<unsigned>(kind); }
  std::uint64_t bits_ = 0;
};

// What only a worker says that could not do its work.
inline constexpr HeaderKinds kOfFailures = {HeaderKind::kFailure, HeaderKind::kFailureScope, HeaderKind::kError,
                                            HeaderKind::kEffect};

// The last header of each kind.
class FoundHeaders {
 public:
  // REQUIRES: the headers outlive this.
  explicit FoundHeaders(std::span<const Header> headers);
  // Null when there is none.
  [[nodiscard]] const Header* find(HeaderKind kind) const {
    return kinds_.has(kind) ? last_[static_cast<std::size_t>(kind)] : nullptr;
  }
  [[nodiscard]] bool has(HeaderKind kind) const { return kinds_.has(kind); }
  [[nodiscard]] HeaderKinds kinds() const { return kinds_; }
  // As if there were none.
  void forget(HeaderKind kind) { kinds_.remove(kind); }

 private:
  HeaderKinds kinds_;
  // Of the kinds found; what else is there was never written.
  std::array<const Header*, static_cast<std::size_t>(HeaderKind::kCount)> last_;
};

}  // namespace reseq::codec
