// CrashMark: which copy on disk this thread is reading or writing. LMDB trusts its pages, and a file may be cut while
// it is mapped: both can end the process (SIGSEGV, SIGBUS, SIGFPE), and would again at every start. So a signal that
// comes in the middle of such work leaves the mark `poisoned` in that folder, and the next process reads the partition
// anew.
//
// Invariants: the handler touches nothing but a name that outlives the scope, and calls only what may be called there;
// the signal then does what it would have done. Thread rule: any thread, a mark for each.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <string>

namespace reseq::store {

// Names of files of one folder, with its path.
struct CrashMarks {
  std::string poisoned;              // to be made
  std::array<std::string, 2> trust;  // to be removed when that fails: without them an unclean copy is not trusted
};

class CrashMark {
 public:
  // Null: none. Inner marks hide outer ones. REQUIRES: they outlive this.
  explicit CrashMark(const CrashMarks* marks) : before_(current) { set(marks); }
  ~CrashMark() { set(before_); }
  CrashMark(const CrashMark&) = delete;
  CrashMark& operator=(const CrashMark&) = delete;

  // From now on signals of this process leave marks. Handlers that were there before are called behind ours.
  static void watch();

 private:
  // What happens in this scope stays in it, as a signal sees it.
  static void set(const CrashMarks* marks) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current = marks;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static void on_signal(int signal, siginfo_t* info, void* context);
  static thread_local const CrashMarks* current;
  const CrashMarks* before_;
};

}  // namespace reseq::store
