// CrashMark: which copy on disk this thread is reading or writing. LMDB trusts its pages, and a file may be cut while
// it is mapped: both can end the process (SIGSEGV, SIGBUS, SIGFPE), and would again at every start. So a signal that
// comes in the middle of such work leaves the mark `poisoned` in that folder, and the next process reads the partition
// anew.
//
// Invariants: the handler touches nothing but a name that outlives the scope, and calls only what may be called there;
// the signal then does what it would have done. Thread rule: any thread, a mark for each.
#pragma once

#include <csignal>

namespace reseq::store {

class CrashMark {
 public:
  // `file`: the whole name of the mark; null: none. Inner marks hide outer ones. REQUIRES: it outlives this.
  explicit CrashMark(const char* file) : before_(current) { current = file; }
  ~CrashMark() { current = before_; }
  CrashMark(const CrashMark&) = delete;
  CrashMark& operator=(const CrashMark&) = delete;

  // From now on signals of this process leave marks. Handlers that were there before are called behind ours.
  static void watch();

 private:
  static void on_signal(int signal, siginfo_t* info, void* context);
  static thread_local const char* current;
  const char* before_;
};

}  // namespace reseq::store
