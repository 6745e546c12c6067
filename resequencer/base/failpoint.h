// Failpoint: a named moment between two steps, at which a test may end or stop the process (docs/testing.md, "Chaos").
// A point costs a load and a branch; none lies on the way of a single record. No program but tests/faulty sets a hook.
// Thread rule: the hook is set before threads start; points are passed by any of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reseq {

// Each means: the step it names comes next, unless it says that something has just been done.
enum class Failpoint : std::uint8_t {
  kTransactionDecide,
  kTransactionEncode,
  kTransactionBegin,
  kTransactionProduce,
  kTransactionProducing,  // outputs of a partition are queued, its rows are not
  kTransactionFlush,
  kTransactionSendOffsets,
  kTransactionCommit,
  kTransactionApply,    // committed in Kafka, not in memory
  kTransactionApplied,  // of one partition
  kTransactionAbort,
  kCheckpointBegin,
  kCheckpointNoted,      // the boot note is written, the clean mark still there
  kCheckpointUnmarked,   // the clean mark is removed, which is not durable yet
  kCheckpointWritten,    // in LMDB, not committed there
  kCheckpointCommitted,  // memory still holds the rows
  kCompactionBegin,
  kCompactionCopied,    // some more of it, not synced
  kCompactionWhole,     // all of it, and synced
  kCompactionRenamed,   // which is not durable yet
  kCompactionReplaced,  // durable; the file that was there before is still open
  kSyncBegin,
  kSyncDone,
  kStopSynced,
  kStopClosed,
  kStopMarked,  // the clean mark is written, which is not durable yet
  kWipeBegin,
  kWipeCopyRemoved,
  kWipeMarksRemoved,
  kTakeoverInit,
  kTakeoverInitialised,
  kTakeoverOpen,
  kTakeoverOffsets,
  kTakeoverHighWatermark,
  kTakeoverRestore,  // again and again, while it lasts
  kTakeoverCompare,
  kTakeoverBirth,
  kTakeoverReady,
  kTakeoverAssign,
  kTakeoverRebuild,
  kGroupAssigned,
  kGroupRevoked,
  kRecycle,
  kCount
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Failpoint::kCount)> kFailpointNames = {
    "transaction.decide",
    "transaction.encode",
    "transaction.begin",
    "transaction.produce",
    "transaction.producing",
    "transaction.flush",
    "transaction.send_offsets",
    "transaction.commit",
    "transaction.apply",
    "transaction.applied",
    "transaction.abort",
    "checkpoint.begin",
    "checkpoint.noted",
    "checkpoint.unmarked",
    "checkpoint.written",
    "checkpoint.committed",
    "compaction.begin",
    "compaction.copied",
    "compaction.whole",
    "compaction.renamed",
    "compaction.replaced",
    "sync.begin",
    "sync.done",
    "stop.synced",
    "stop.closed",
    "stop.marked",
    "wipe.begin",
    "wipe.copy_removed",
    "wipe.marks_removed",
    "takeover.init",
    "takeover.initialised",
    "takeover.open",
    "takeover.offsets",
    "takeover.high_watermark",
    "takeover.restore",
    "takeover.compare",
    "takeover.birth",
    "takeover.ready",
    "takeover.assign",
    "takeover.rebuild",
    "group.assigned",
    "group.revoked",
    "recycle",
};

using FailpointHook = void (*)(Failpoint point);

namespace detail {
inline constinit FailpointHook failpoint_hook = nullptr;
}

inline void set_failpoint_hook(FailpointHook hook) {
  detail::failpoint_hook = hook;
}

inline void failpoint(Failpoint point) {
  if (detail::failpoint_hook != nullptr) detail::failpoint_hook(point);
}

}  // namespace reseq
