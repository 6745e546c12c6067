// Recovery: may the state that is at hand be caught up from the changelog (reuse), or must it be read anew from the
// beginning (rebuild)? The changelog is the truth, so a rebuild is always right; a reuse must be shown to be.
//
//   before anything is read                                                  | rebuild because
//   nothing at hand                                                          | no_copy
//   no clean mark, and the host has been started since                       | other_boot
//   a sync failed                                                            | poisoned
//   unreadable                                                               | damaged
//   written inside of a transaction that a crash then cut off                | inside_transaction
//   a row on disk cannot be read, or a sync failed (also while it runs)      | fault
//   of another application or cluster                                        | foreign
//   last caught up, or begun to be read, more than                           |
//   delete.retention.ms / 2 - max_clock_drift_ms ago                         | too_old
//   position behind the end of the changelog                                 | truncated
//   position before the beginning of the changelog                           | log_start
//   after it was caught up                                                   |
//   the record in front of its position is another one                       | record
//   its generation, or its place in it, is not in the lineage of the log     | lineage
//   digest or counts differ from the meta row                                | digest
//
// A generation that the lineage has forgotten is left to record and digest.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "changelog/restorer.h"
#include "model/partition_state.h"
#include "model/summary.h"
#include "runtime/application/application.h"
#include "store/partition_store.h"

namespace reseq::runtime {

enum class Rebuild : std::uint8_t {
  kNone,  // reuse
  kNoCopy,
  kOtherBoot,
  kPoisoned,
  kDamaged,
  kInsideTransaction,
  kForeign,
  kTooOld,
  kTruncated,
  kLogStart,
  kRecord,
  kLineage,
  kDigest,
  kFault,
  kCount
};
[[nodiscard]] std::string_view name_of(Rebuild why);

// Of a copy as it was found on disk, before it is opened.
[[nodiscard]] Rebuild judge(store::StateFolder::Copy found);

// Where a copy comes from.
struct Origin {
  bool from_disk = false;  // this process has only just opened it
  UnixMs read_since;       // when this process began to read it from the beginning of the changelog; 0 = it did not
};

// Before anything is read.
[[nodiscard]] Rebuild judge(const store::PartitionStore& store, const Origin& origin, const changelog::LogEnds& log,
                            const Application& application, UnixMs now);

// The generation that was caught up from stood at `from`: was that a place of this log? REQUIRES: lineage of the newest
// meta row. An entry is the lower bound of the first offset of its generation, and the upper bound of the one before.
[[nodiscard]] bool in_lineage(const store::Checkpoint& from, const std::vector<Generation>& lineage);

// A changelog that is empty where a copy knows records: it was deleted, or emptied, which compaction never does. The
// copy may be all that is left of the state.
[[nodiscard]] bool changelog_lost(const store::PartitionStore& store, const changelog::LogEnds& log);

// Why a process with this configuration must not touch that state, with the fix; nothing when it may.
// `meta` none: nothing is in the state yet.
[[nodiscard]] std::optional<std::string> refusal(const Identity& identity, const std::optional<Meta>& meta,
                                                 const Application& application);
// The same, because ordered targets are configured and rows wait in the journal, which knows no lanes.
[[nodiscard]] std::optional<std::string> refusal_of_lanes(const Counts& counts, const Application& application);
// The same, because rows wait for a target that it does not have.
[[nodiscard]] std::string target_still_waits(const std::string& name);

// A takeover enters the lineage: its generation is the last one + 1, `restore_target` what it was restored to.
void append_generation(std::vector<Generation>& lineage, Offset restore_target);

}  // namespace reseq::runtime
