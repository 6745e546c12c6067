// OwnedPid: a child that is killed and reaped when nobody wants it any more.
// Thread rule: one thread.
#pragma once

#include <csignal>
#include <sys/types.h>
#include <sys/wait.h>
#include <utility>

namespace reseq::demo {

class OwnedPid {
 public:
  explicit OwnedPid(pid_t pid) : pid_(pid) {}
  OwnedPid(OwnedPid&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  OwnedPid& operator=(OwnedPid&&) = delete;
  ~OwnedPid() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);  // not reaped yet, so the number is still its own
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

}  // namespace reseq::demo
