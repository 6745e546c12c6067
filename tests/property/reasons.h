// Which reasons the engine finds by itself, and which reach it only as the decoder's.
// Thread rule: constants.
#pragma once

#include <array>

#include "model/reason.h"

namespace reseq::property {

// Found in the bytes of a record, before there is a command; the engine passes them on.
inline constexpr std::array kDecoderReasons = {
    Reason::kMissingId,         Reason::kMissingSequence, Reason::kMalformedSequence, Reason::kMalformedHeader,
    Reason::kUnsupportedHeader, Reason::kUnknownCommand,  Reason::kUnknownTarget,     Reason::kMissingTarget,
    Reason::kOpPayloadConflict, Reason::kMisrouted,       Reason::kUnknownControl,    Reason::kEmptyId,
    Reason::kIdTooLong,         Reason::kIdKeyMismatch,   Reason::kTooManyHeaders,
};

// Found by comparing a command with the state.
inline constexpr std::array kEngineReasons = {
    Reason::kSuperseded,
    Reason::kEpochBehind,
    Reason::kStale,
    Reason::kDuplicate,
    Reason::kUnregistered,
    Reason::kUnregisteredTarget,
    Reason::kSequenceReused,
    Reason::kEpochMissing,
    Reason::kIdCollision,
    Reason::kNoTarget,
    Reason::kAmbiguousTargets,
    Reason::kTooLarge,
    Reason::kReprocessNeedsInline,
    Reason::kResetNeedsEpochs,
    Reason::kObservedVersionTooHigh,
    Reason::kVersionExhausted,
    Reason::kUnexpectedState,
    Reason::kNoChange,
    Reason::kDryRun,
};

// Of what waits: tests/journal looks for them. body_gone is counted here, too (Hits::gone).
inline constexpr std::array kWaitingReasons = {
    Reason::kBodyGone,      Reason::kExpired, Reason::kTimedOut,      Reason::kAttemptMissing,
    Reason::kAttemptBehind, Reason::kFailed,  Reason::kEffectUnknown, Reason::kNoRequest,
};

// Of ordered targets: tests/orders.
inline constexpr std::array kOrderReasons = {Reason::kGap, Reason::kOrderedTarget};

static_assert(kDecoderReasons.size() + kEngineReasons.size() + kWaitingReasons.size() + kOrderReasons.size() + 1 ==
                  static_cast<std::size_t>(Reason::kCount),
              "every reason is in one of the lists");

}  // namespace reseq::property
