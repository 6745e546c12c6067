// Reason: why an input had no release of its own. The names are on the wire (`reseq-reason`, events) and listed in
// schemas/reasons.md: never rename, only add.
// Thread rule: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace reseq {

enum class Reason : std::uint8_t {
  kNone,
  // order
  kSuperseded,
  kEpochBehind,
  kStale,
  kDuplicate,
  kUnregistered,
  kUnregisteredTarget,
  kSequenceReused,
  kEpochMissing,
  // what the record says
  kMissingId,
  kEmptyId,
  kIdTooLong,
  kIdKeyMismatch,
  kIdCollision,
  kMissingSequence,
  kMalformedSequence,
  kMalformedHeader,
  kUnsupportedHeader,
  kUnknownCommand,
  kUnknownTarget,
  kMissingTarget,
  kNoTarget,
  kAmbiguousTargets,
  kOpPayloadConflict,
  kMisrouted,
  kTooLarge,
  kTooManyHeaders,
  // requests that wait
  kBodyGone,
  kExpired,
  kTimedOut,
  kAttemptMissing,
  kAttemptBehind,
  // failures
  kFailed,
  kEffectUnknown,
  kNoRequest,
  // ordered targets
  kGap,
  kOrderedTarget,
  // modes and control
  kReprocessNeedsInline,
  kResetNeedsEpochs,
  kUnknownControl,
  kUnexpectedState,
  kNoChange,
  kDryRun,
  // versions
  kObservedVersionTooHigh,
  kVersionExhausted,
  kCount,
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Reason::kCount)> kReasonNames = {
    "none",
    "superseded",
    "epoch_behind",
    "stale",
    "duplicate",
    "unregistered",
    "unregistered_target",
    "sequence_reused",
    "epoch_missing",
    "missing_id",
    "empty_id",
    "id_too_long",
    "id_key_mismatch",
    "id_collision",
    "missing_sequence",
    "malformed_sequence",
    "malformed_header",
    "unsupported_header",
    "unknown_command",
    "unknown_target",
    "missing_target",
    "no_target",
    "ambiguous_targets",
    "op_payload_conflict",
    "misrouted",
    "too_large",
    "too_many_headers",
    "body_gone",
    "expired",
    "timed_out",
    "attempt_missing",
    "attempt_behind",
    "failed",
    "effect_unknown",
    "no_request",
    "gap",
    "ordered_target",
    "reprocess_needs_inline",
    "reset_needs_epochs",
    "unknown_control",
    "unexpected_state",
    "no_change",
    "dry_run",
    "observed_version_too_high",
    "version_exhausted",
};

[[nodiscard]] constexpr std::string_view name_of(Reason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}
// None: it names none that this version knows.
[[nodiscard]] constexpr std::optional<Reason> reason_named(std::string_view name) {
  for (std::size_t i = 0; i < kReasonNames.size(); ++i)
    if (!name.empty() && kReasonNames[i] == name) return static_cast<Reason>(i);
  return std::nullopt;
}

}  // namespace reseq
