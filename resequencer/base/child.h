// Child: a program that we started, until its end. No shell is involved: arguments reach it as they are.
// Invariants: a Child that goes out of scope has ended, it is killed and reaped. No signal is sent to a number that was
// reaped, because it may be somebody else's by then.
// Thread rule: one thread. A process that ignores SIGCHLD does not learn how its children end.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace reseq {

struct ChildOptions {
  // Descriptors that it gets as 0, 1 and 2; a negative one becomes /dev/null, the same number is inherited as it is.
  // The caller keeps its own.
  int in = -1;
  int out = -1;
  int err = -1;
  bool own_group = false;                                 // a Ctrl-C is for us alone then
  std::optional<std::vector<std::string>> environment{};  // NAME=value; none: ours
  // Signals that end it even when we ignore them. It blocks none.
  std::vector<int> default_signals{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
};

struct Ending {
  int exit_code = 0;  // -1: it ended, and nobody saw how
  int signal = 0;     // that ended it; 0: none did

  [[nodiscard]] bool good() const { return exit_code == 0 && signal == 0; }
  [[nodiscard]] std::string text() const;  // "exit code 3", "signal 9 (Killed)"
};

class Child {
 public:
  // arguments[0] is searched in PATH when it has no slash. kInvalid: it cannot be started.
  [[nodiscard]] static Result<Child> start(const std::vector<std::string>& arguments, const ChildOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  // -1 once it was seen to have ended.
  [[nodiscard]] pid_t pid() const { return ending_ ? -1 : pid_; }
  // How it ended, if it did.
  const std::optional<Ending>& poll();
  [[nodiscard]] bool running() { return !poll(); }

  // To it alone, or to its group: a shell and what it runs. Nothing once it was seen to have ended.
  void signal(int number);
  void signal_group(int number);  // REQUIRES: own_group

  const Ending& wait();
  // SIGKILL when it has not ended within `limit`. It has ended when this returns; false: it had to be killed.
  bool wait_or_kill(std::chrono::milliseconds limit);

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  void reap(int options);  // of waitpid

  pid_t pid_;
  std::optional<Ending> ending_;
};

// What is written to one end is read from the other; both are close-on-exec.
struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};
// kFatal: no descriptor is left.
[[nodiscard]] Result<Pipe> open_pipe();

}  // namespace reseq
