#include "store/sync_handle.h"

#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/failpoint.h"
#include "store/state_folder.h"

namespace reseq::store {

Result<> SyncHandle::sync() {
  close_what_is_left();
  const std::lock_guard lock(mutex_);
  if (folder_ == nullptr) return Done{};
  if (folder_->poisoned()) return Error{ErrorClass::kFatal, 0, "state: " + folder_->path() + " is poisoned"};
  failpoint(Failpoint::kSyncBegin);
  if (::fdatasync(descriptor_) == 0) {
    failpoint(Failpoint::kSyncDone);
    return Done{};
  }
  const int error = errno;
  const auto poisoned = folder_->poison();
  return Error{ErrorClass::kFatal, error,
               "state: " + folder_->path() + " cannot be synced: " + std::generic_category().message(error) +
                   (poisoned ? "" : "; " + poisoned.error().message)};
}

bool SyncHandle::poisoned() {
  const std::lock_guard lock(mutex_);
  return folder_ != nullptr && folder_->poisoned();
}

// Nobody waits for it: attach() and detach() can be called meanwhile.
void SyncHandle::close_what_is_left() {
  FileDescriptor left;
  const std::lock_guard lock(mutex_);
  std::swap(left, to_close_);
}

void SyncHandle::close_later(FileDescriptor file) {
  const std::lock_guard lock(mutex_);
  to_close_ = std::move(file);
}

bool SyncHandle::running() {
  return !std::unique_lock(mutex_, std::try_to_lock).owns_lock();
}

void SyncHandle::attach(int descriptor, StateFolder& folder) {
  const std::lock_guard lock(mutex_);
  descriptor_ = descriptor;
  folder_ = &folder;
}

void SyncHandle::detach() {
  const std::lock_guard lock(mutex_);
  descriptor_ = -1;
  folder_ = nullptr;
}

}  // namespace reseq::store
