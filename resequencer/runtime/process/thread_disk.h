// ThreadDisk: how many bytes a thread has had from disks and has given to them, as the kernel counts them: a sign of
// life of a step that waits for a slow disk, wherever in LMDB it does. Pages that are read through a mapping count, and
// so do those that a write makes dirty; what goes to brokers does not.
// Thread rule: watch_this_thread() by the thread that is watched; bytes() by any.
#pragma once

#include <atomic>
#include <cstdint>

namespace reseq::runtime {

class ThreadDisk {
 public:
  ThreadDisk() = default;
  ~ThreadDisk();
  ThreadDisk(const ThreadDisk&) = delete;
  ThreadDisk& operator=(const ThreadDisk&) = delete;

  // False: this kernel does not count (CONFIG_TASK_IO_ACCOUNTING), or /proc is hidden; bytes() stays 0 then.
  [[nodiscard]] bool watch_this_thread();
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  std::atomic<int> descriptor_ = -1;
};

}  // namespace reseq::runtime
