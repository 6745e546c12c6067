// SyncHandle: makes a copy on disk durable from another thread, while its owner reads and writes.
//
// Syncs the descriptor, not the environment: mdb_env_sync would read the map, which the owner may be replacing by a
// larger one. With MDB_NOSYNC and without a writable map the two are the same system call.
//
// Invariant: the environment and its folder are not closed while a sync runs. Thread rule: any thread.
#pragma once

#include <mutex>

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

  // For the owner. REQUIRES: descriptor and folder live until detach().
  void attach(int descriptor, StateFolder& folder);
  // Waits for a sync that runs.
  void detach();

 private:
  std::mutex mutex_;
  int descriptor_ = -1;
  StateFolder* folder_ = nullptr;
};

}  // namespace reseq::store
