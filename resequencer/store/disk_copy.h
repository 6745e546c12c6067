// DiskCopy: the copy of one partition's state on disk: its folder, its LMDB environment, and what they say of each
// other.
//
// Invariants: rows, timers and checkpoint record change in one transaction; nothing is written before the folder says
// that writing began; the folder is held until the environment is closed. Thread rule: used by the owner of the store;
// sync() gives what other threads may use.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/checkpoint_record.h"
#include "store/compaction.h"
#include "store/environment.h"
#include "store/key_filter.h"
#include "store/memory_table.h"
#include "store/state_folder.h"
#include "store/sync_handle.h"

namespace reseq::store {

struct DiskSettings {
  std::uint64_t map_bytes = std::uint64_t{1} << 30;  // first size of the memory map (sparse); doubled when it gets full
  CompactionSettings compaction = {};
};

class DiskCopy {
 public:
  // kInvalid: damaged, of a newer format, or not to be trusted.
  static Result<std::unique_ptr<DiskCopy>> open(std::unique_ptr<StateFolder> folder, const DiskSettings& settings);
  ~DiskCopy();
  DiskCopy(const DiskCopy&) = delete;
  DiskCopy& operator=(const DiskCopy&) = delete;

  // A row whose checksum is right, or none. The view lives until the next write. kInvalid: it is damaged.
  [[nodiscard]] Result<std::optional<std::string_view>> row(std::string_view key) const;
  // The same, cheaper when this object has written all rows and never that one.
  [[nodiscard]] Result<std::optional<std::string_view>> row(const codec::HashedKey& key) const;
  // Rows in key order, not checked.
  [[nodiscard]] Environment::Scan rows(std::string_view from) const { return environment_->scan(Table::kRows, from); }
  [[nodiscard]] std::uint64_t row_count() const;
  [[nodiscard]] Result<Environment::Size> size() const { return environment_->size(); }

  // Timers in order from the first that no entry of `memory` hides, none when there is none. What is hidden stays so
  // until the next write, so the way there is walked once.
  [[nodiscard]] std::optional<Environment::Scan> timers(const MemoryTable& memory) const;
  // The same for the entries of an index at or behind `from`; what was walked over counts when that is its beginning.
  [[nodiscard]] std::optional<Environment::Scan> index(const MemoryTable& memory, std::uint8_t index,
                                                       std::string_view from) const;

  // False after a wipe() that failed: nothing can be read then.
  [[nodiscard]] bool is_open() const { return environment_ != nullptr; }

  [[nodiscard]] const std::optional<CheckpointRecord>& written() const { return written_; }

  // All entries of `memory` in key order, their timers, and the record, in one transaction. On an error nothing was
  // written. kFatal, kInvalid: the copy is poisoned.
  Result<> write(const MemoryTable& memory, const CheckpointRecord& record);

  // Its file is large and most of it free, or is being written anew.
  [[nodiscard]] bool wants_compaction() const;
  [[nodiscard]] bool compacting() const { return compaction_ != nullptr; }
  // One step of that; what was read before it is not to be used any more. None: there are more to come. kFatal: the
  // copy is poisoned. Others: the file stays as it is, the next call would begin anew.
  Result<std::optional<Compacted>> compact();
  void drop_compaction() { compaction_.reset(); }

  // Syncs, closes and marks the copy clean. After it, and when it failed, only destruction.
  Result<> close_clean();
  // Empties the copy and opens it again. kRetriable: the copy is closed, call it again.
  Result<> wipe();

  // Makes this the last use of the copy: it must be rebuilt.
  void poison() const;
  [[nodiscard]] const StateFolder& folder() const { return *folder_; }
  [[nodiscard]] const std::shared_ptr<SyncHandle>& sync() const { return sync_; }

 private:
  DiskCopy(std::unique_ptr<StateFolder> folder, const DiskSettings& settings)
      : folder_(std::move(folder)), settings_(settings) {}
  Result<> open();
  void close();
  void prefetch(const MemoryTable::Entry& entry) const;
  Result<std::optional<Compacted>> step_compaction();
  Result<> replace_file();
  void note_added(const std::vector<const MemoryTable::Entry*>& entries);

  std::unique_ptr<StateFolder> folder_;
  DiskSettings settings_;
  StateFolder::Copy found_ = StateFolder::Copy::kNone;
  std::unique_ptr<Environment> environment_;
  std::unique_ptr<Compaction> compaction_;
  std::shared_ptr<SyncHandle> sync_ = std::make_shared<SyncHandle>();
  std::optional<CheckpointRecord> written_;
  std::optional<KeyFilter> filter_;  // of all rows; none when some were there at open(), or most of its keys are gone
  // From the first key of a range at or behind `from` that no entry of `memory` hides; none: all are hidden.
  [[nodiscard]] std::optional<Environment::Scan> scan(const MemoryTable& memory, std::string_view from,
                                                      std::uint8_t range) const;
  void note_hidden(std::string_view from, std::string_view end) const;
  // Keys of timers and indexes that memory hides, found since the last write: from the first of a run to what is behind
  // it. What was due and done stands at the front of an index until the next checkpoint: nobody walks over it twice.
  mutable std::map<std::string, std::string, std::less<>> hidden_;
};

// What the copy in `folder` says of itself, for those who only want to know: nothing is created, written or removed.
// None: there is no copy, somebody has it, it is damaged, or not to be trusted.
[[nodiscard]] std::optional<CheckpointRecord> look_at_copy(const std::string& folder, const std::string& boot_id);

}  // namespace reseq::store
