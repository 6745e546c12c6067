// PartitionStore: the state of one partition, a view of its changelog. Live batches and restores change it the same
// way. What changed since the last checkpoint lies in a memory table over a copy on disk (LMDB); a store without a
// folder keeps everything in memory.
//
// Invariants: summary() is what a full pass over the rows would give; only rows committed to the changelog are in it;
// no row is applied before the identity, whose random key hashes ids and rows; the copy on disk is the state at one
// position of the changelog, never a mixture. Thread rule: used by the worker that owns the partition; what
// sync_handle() gives, from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/result.h"
#include "codec/hash.h"
#include "codec/row_kinds.h"
#include "engine/state_view.h"
#include "model/journal.h"
#include "model/partition_state.h"
#include "model/summary.h"
#include "store/checkpoint_record.h"
#include "store/crash_mark.h"
#include "store/disk_copy.h"
#include "store/memory_table.h"
#include "store/state_folder.h"

namespace reseq::store {

// A row that is there, as the sums of the state have it.
struct OldRow {
  Digest record;  // its hash
  CountSet counted;
  DocumentPriorities priorities = {};  // of a document that waits or is under way
};

// A document that was looked up: what its change needs to know again.
struct LookedUp {
  std::string_view key;
  Digest key_hash;
  std::optional<OldRow> old;
};

// The same of a row of another kind.
struct LookedUpRow {
  std::string_view key;
  Digest key_hash;
  std::optional<std::string_view> value;  // lives until the row changes or a checkpoint is written
  const codec::RowKind* kind = nullptr;
};

// One changelog record: a whole row, or its end.
struct Change {
  std::string_view key;
  std::optional<std::string_view> value;
  const LookedUp* looked_up = nullptr;         // of this key, since when its row has not changed; null = look it up
  const LookedUpRow* looked_up_row = nullptr;  // the same
};

class PartitionStore {
 public:
  // In memory only: a birth that is being prepared, tests.
  PartitionStore();

  // Opens the copy in `folder`, or creates an empty one. kInvalid: it is damaged, of a newer format, or not to be
  // trusted (poisoned, other boot): wipe the folder and open it again. Identity, target table, meta row and checkpoint
  // record are checked here, every other row when it is read.
  static Result<std::unique_ptr<PartitionStore>> open(std::unique_ptr<StateFolder> folder,
                                                      const DiskSettings& settings);

  // Checks a record read from the changelog at `offset`, then applies it. kInvalid: it is damaged, of a newer format,
  // stands before the identity, or was applied before; nothing changed then. kFatal: fault().
  Result<> restore(const Change& change, Offset offset);

  // Records this process encoded and committed, the meta row last. `after` = what after(changes) said; `next` =
  // position of the changelog behind them. Does not touch the disk.
  void apply(std::span<const Change> changes, const Summary& after, Offset next);

  // What summary() will be once `changes` are applied. REQUIRES: keys are distinct. Look at fault() afterwards.
  [[nodiscard]] Summary after(std::span<const Change> changes) const;
  [[nodiscard]] const Summary& summary() const { return summary_; }

  // Position of the changelog: last applied record + 1. None: nothing was applied.
  [[nodiscard]] std::optional<Offset> position() const;
  // What a checkpoint written now would say. None: nothing was applied.
  [[nodiscard]] const std::optional<Checkpoint>& checkpoint() const { return checkpoint_; }

  // What decisions read (BatchView). The key is placed in `keys`. Look at fault() afterwards.
  [[nodiscard]] engine::Lookup look_up(DocumentId id, Arena& keys, LookedUp& looked_up) const;

  // The same of a row of another kind.
  [[nodiscard]] LookedUpRow look_up_row(std::string_view key, Arena& keys) const;

  // Nothing was applied: no identity, no meta, no rows.
  [[nodiscard]] bool empty() const { return !identity_ && !meta_ && rows() == 0; }
  [[nodiscard]] const std::optional<Identity>& identity() const { return identity_; }
  [[nodiscard]] const std::optional<Meta>& meta() const { return meta_; }
  [[nodiscard]] const TargetTable& targets() const { return targets_; }
  // REQUIRES: an identity was applied.
  [[nodiscard]] const codec::KeyedHash& hash() const { return *hash_; }
  // All rows but the meta row.
  [[nodiscard]] std::size_t rows() const;

  // Ids of live rows whose deadline is at or before `now` and which are not overdue yet, earliest first (ties by key),
  // at most `max`.
  [[nodiscard]] std::vector<std::string> due(UnixMs now, std::size_t max) const;
  // Deadline of the first of them, whenever it is. Cheap enough for every step.
  [[nodiscard]] std::optional<UnixMs> earliest_deadline() const;

  struct Swept {
    std::vector<std::string> expired_ids;
    std::string cursor;  // behind the last key looked at; empty = the end was reached
    std::size_t looked_at = 0;
  };
  // Looks at up to `rows_max` keys of documents behind `cursor` (empty = from the start) in key order: watermarks
  // whose deadline is not 0 and at or before `now` are expired. A key whose row is gone counts as looked at.
  [[nodiscard]] Swept sweep(std::string_view cursor, std::size_t rows_max, UnixMs now) const;

  struct Walked {
    std::string cursor;  // the last key looked at, or where it began
    std::size_t looked_at = 0;
    bool ended = false;  // nothing is left behind the cursor
  };
  enum class Which : std::uint8_t { kAll, kLive };
  using DocumentVisit = std::function<bool(std::string id, Row row)>;  // false: that was the last one
  // Documents behind `cursor` (empty = from the start) in key order whose keys begin with `prefix` (empty = all),
  // looking at `rows_max` rows at most. kLive passes over what waits for nothing, without decoding it. Look at fault()
  // afterwards: what was visited before it is right, and not all.
  Walked documents(std::string_view cursor, std::string_view prefix, Which which, std::size_t rows_max,
                   const DocumentVisit& visit) const;
  // Rows of any kind, encoded, whose keys begin with `prefix` (not empty) behind `cursor` (empty = from the start), in
  // key order, `rows_max` at most. What is visited lives until the visit returns. Rows that were removed since the last
  // checkpoint are passed over one by one and do not count. Look at fault() afterwards.
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const engine::RowVisit& visit) const;
  // As engine::StateView says. Look at fault() afterwards: each entry of the copy on disk was compared with its row.
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max, const engine::IndexVisit& visit) const;
  // The row under a key (not empty), encoded, or none; it lives until that row changes or a checkpoint is written. Look
  // at fault() afterwards.
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const;
  // Adds the targets for which documents wait that lie behind `cursor` (empty = from the start), looking at `rows_max`
  // rows at most. Look at fault() afterwards.
  Walked pending_targets(std::string_view cursor, std::size_t rows_max, TargetSet& pending) const;

  // -- The copy on disk. Without one all of these do nothing or say none.
  [[nodiscard]] bool on_disk() const { return disk_ != nullptr; }
  // Of the copy, as it was opened or last written.
  [[nodiscard]] std::optional<Checkpoint> checkpointed() const;
  // Of its file; nothing without a copy.
  [[nodiscard]] std::optional<Environment::Size> disk_size() const;
  // Rows in memory that the copy lacks, and the bytes of their keys and values.
  [[nodiscard]] std::size_t dirty_rows() const;
  [[nodiscard]] std::uint64_t dirty_bytes() const;

  // Writes what the copy lacks in one LMDB transaction and empties the memory table. On an error nothing is lost and
  // memory and disk stay as they were: kRetriable (no space, I/O): call again; kFatal: the copy is poisoned, fault().
  Result<> write_checkpoint();
  // The file of the copy is large and less than a third of it used, or it is being written anew.
  [[nodiscard]] bool wants_compaction() const { return disk() != nullptr && disk()->wants_compaction(); }
  [[nodiscard]] bool compacting() const { return disk() != nullptr && disk()->compacting(); }
  // One step towards a file with nothing free, whose entries and pages are few enough not to be noticed; checkpoints go
  // on in between. Nothing that was read from the store may be used behind it. None: there are more to come. On an
  // error the old file stays: call again much later; kFatal: fault(). REQUIRES: wants_compaction().
  Result<std::optional<Compacted>> compact();
  // Nobody is going to: what was written of the new file is removed.
  void drop_compaction();
  // Outlives the store safely.
  [[nodiscard]] std::shared_ptr<SyncHandle> sync_handle() const;
  // Checkpoint (unless the last one is worth more), checked sync, clean mark. After it only destruction, even when it
  // failed.
  Result<> close_clean();
  // Forgets everything, on disk too; then this is an empty store without a fault.
  Result<> wipe();
  // Set once, by the first row on disk that fails its checksum, when LMDB fails in a read, or when a sync failed: what
  // the store answers is not to be trusted then, and the copy is to be rebuilt.
  [[nodiscard]] const std::optional<Error>& fault() const;
  [[nodiscard]] StateFolder::Copy found() const;
  // Where the copy is; empty in memory only.
  [[nodiscard]] std::string folder() const;

 private:
  Result<> load();
  void forget();
  void set_identity(Identity identity);
  void remember(const codec::HashedKey& key, std::optional<std::string_view> value);
  [[nodiscard]] codec::HashedKey hashed_key(const Change& change) const;
  void reach(Offset next, Digest last_record, bool at_meta);
  [[nodiscard]] std::optional<std::string_view> value_of(const codec::HashedKey& key) const;
  void break_down(Error error) const;
  template <typename Visit>
  Walked walk(std::string_view cursor, std::string_view prefix, std::size_t rows_max, const Visit& visit) const;
  // While it lives, a signal that ends the process poisons the copy.
  [[nodiscard]] CrashMark mark() const { return CrashMark(disk_ ? &disk_->folder().crash_marks() : nullptr); }
  // What can be read from; none in memory only.
  [[nodiscard]] const DiskCopy* disk() const { return disk_ && disk_->is_open() ? disk_.get() : nullptr; }

  std::optional<Identity> identity_;
  std::optional<Meta> meta_;
  TargetTable targets_;
  bool has_targets_ = false;
  std::optional<codec::KeyedHash> hash_;
  std::unique_ptr<MemoryTable> memory_;  // from the identity on
  Summary summary_;
  std::optional<Checkpoint> checkpoint_;
  std::unique_ptr<DiskCopy> disk_;
  mutable std::optional<Error> fault_;
};

}  // namespace reseq::store
