// SyncHandle: makes a copy on disk durable from another thread, while its owner reads and writes.
//
// Syncs the descriptor, not the environment: mdb_env_sync would read the map, which the owner may be replacing by a
// larger one. With MDB_NOSYNC and without a writable map the two are the same system call.
//
// Invariant: the environment and its folder are not closed while a sync runs. Thread rule: any thread.
#pragma once

#include <mutex>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace reseq::store {

class StateFolder;

class SyncHandle {
 public:
  // Everything committed before the call is durable when it returns without an error. An error poisons the copy: what
  // the kernel still holds of it is not known then. Does nothing once the store is closed.
  Result<> sync();
  // A sync would be in vain: the copy is to be rebuilt.
  [[nodiscard]] bool poisoned();

  // One runs now: attach() and detach() would wait for it.
  [[nodiscard]] bool running();

  // For the owner: the last that is left of a file. It is closed by the next sync, on its thread, because to give a
  // gigabyte back takes the kernel some tenths of a second.
  void close_later(FileDescriptor file);

  // For the owner. REQUIRES: descriptor and folder live until detach(), or until another one is attached. Waits for a
  // sync that runs.
  void attach(int descriptor, StateFolder& folder);
  // Waits for a sync that runs.
  void detach();

 private:
  void close_what_is_left();
  std::mutex mutex_;
  int descriptor_ = -1;
  FileDescriptor to_close_;
  StateFolder* folder_ = nullptr;
};

}  // namespace reseq::store
