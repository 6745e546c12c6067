// StateFolder: the directory of one partition's copy on this disk, held by its own lock file (not LMDB's).
//
//   lock       flock; whoever holds it owns the folder. Released by the kernel when the process ends
//   data.mdb   the copy; lock.mdb is LMDB's own
//   data.mdb.new   what takes its place when it is whole (store/compaction.h), with LMDB's lock, which ends in -lock;
//              what a process that died left of it is removed at the next open
//   boot       boot id and place of the folder when writing began: after a restart of the machine they differ
//   clean      everything was synced and nothing was written since; holds the length of data.mdb
//   poisoned   a sync failed or the copy proved damaged: it must be rebuilt
//
// A copy is trusted when it is clean, or when the machine has not restarted since it was written: the kernel then still
// has every page that was written, whatever became of the process.
//
// Invariants: one holder per folder, over all processes; `clean` never stands while LMDB may write.
// Thread rule: used by the owner of the store; poison() and poisoned() from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "store/crash_mark.h"
#include "store/private_directory.h"

namespace reseq::store {

class StateFolder {
 public:
  // The copy as it was found at open(); kNone again after wipe().
  enum class Copy : unsigned char { kNone, kClean, kSameBoot, kOtherBoot, kPoisoned };

  // Creates the directory and its parents (0700) and takes the lock. `boot_id`: boot_id(). kRetriable: somebody else
  // holds the folder, or the disk refuses. kInvalid: the folder is a symbolic link, belongs to another user, can be
  // written by others, or lies on a file system that LMDB cannot live on; the message names the fix.
  static Result<std::unique_ptr<StateFolder>> open(const std::string& path, const std::string& boot_id);

  // The same, without creating or removing anything, for those who only want to look. kInvalid: it is not there.
  static Result<std::unique_ptr<StateFolder>> look(const std::string& path, const std::string& boot_id);

  // Its end gives the lock back. A folder that was not marked clean stays unclean.
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;

  [[nodiscard]] Copy found() const { return found_; }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

  // Before the first write after open() or mark_clean(): takes the clean mark away and notes this boot, durably. Cheap
  // when it was done before.
  Result<> begin_writing();

  // REQUIRES: everything written was synced, and the sync was checked. Durable when it returns.
  Result<> mark_clean();

  // The copy is not to be opened again. Fails only when nothing could be noted on disk.
  Result<> poison();
  [[nodiscard]] bool poisoned() const { return poisoned_; }
  // What a process that dies of the copy leaves behind.
  [[nodiscard]] const CrashMarks& crash_marks() const { return crash_marks_; }

  // Removes the copy and its marks, not the lock. REQUIRES: no environment is open in the folder.
  Result<> wipe();

  // The file that may take the place of the copy. There is none until somebody makes it.
  [[nodiscard]] std::string fresh_path() const;
  Result<> remove_fresh();
  // It is the copy now, and durably so. Environments that are open stay with their files. kRetriable: nothing changed.
  // kFatal: the disk did not say which of the two it has; the copy is poisoned. REQUIRES: begin_writing(), and the new
  // file was synced.
  Result<> take_fresh();

 private:
  StateFolder(PrivateDirectory directory, FileDescriptor lock, std::string boot_id);

  enum class Leftovers : bool { kKeep, kRemove };
  static Result<std::unique_ptr<StateFolder>> open(const std::string& path, const std::string& boot_id,
                                                   Leftovers leftovers);
  Result<> inspect(Leftovers leftovers);
  [[nodiscard]] std::string boot_note() const;
  [[nodiscard]] std::string clean_note() const;

  std::string boot_id_;
  PrivateDirectory directory_;
  FileDescriptor lock_;
  CrashMarks crash_marks_;
  Copy found_ = Copy::kNone;
  bool writing_ = false;
  std::atomic<bool> poisoned_ = false;
};

[[nodiscard]] std::string_view name_of(StateFolder::Copy copy);

// Drawn by the kernel at each start of the machine; the same in all containers of it. Empty when it cannot be read.
[[nodiscard]] std::string boot_id();

}  // namespace reseq::store
