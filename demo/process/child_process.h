// ChildProcess: a program with its output in a log file.
// Invariant: a ChildProcess that goes out of scope has ended: asked with SIGTERM, killed when it does not listen.
// Thread rule: one thread. SIGCHLD must not be ignored.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/child.h"
#include "base/result.h"
#include "model/ids.h"

namespace reseq::demo {

struct Launch {
  std::string name;                    // for messages
  std::vector<std::string> arguments;  // [0] is the program, searched in PATH when it has no slash
  std::string log_file;                // stdout and stderr, truncated
};

class ChildProcess {
 public:
  static Result<ChildProcess> start(const Launch& launch);
  ChildProcess(ChildProcess&&) noexcept = default;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  [[nodiscard]] const std::string& name() const { return launch_.name; }
  [[nodiscard]] const std::string& log_file() const { return launch_.log_file; }

  // How it ended, if it did.
  const std::optional<Ending>& poll() { return child_.poll(); }

  // A signal, unless it has ended.
  void tell(int signal) { child_.signal(signal); }
  // SIGTERM, without waiting.
  void ask_to_stop() { tell(SIGTERM); }
  // Waits up to `limit` after ask_to_stop(), then SIGKILL. It has ended when this returns; false: it had to be killed.
  bool wait_or_kill(Milliseconds limit);

  // The last lines of its log, for a message about its failure.
  [[nodiscard]] std::string last_lines(std::size_t count) const;

 private:
  ChildProcess(Launch launch, Child child) : launch_(std::move(launch)), child_(std::move(child)) {}

  Launch launch_;
  Child child_;
};

// Runs a short program to its end and answers its stdout. An exit code other than 0 is kInvalid; its stderr is ours, or
// nobody's where an error is nothing to tell of.
enum class Complaints : unsigned char { kOurs, kNobodys };
Result<std::string> output_of(const std::vector<std::string>& arguments, Complaints complaints = Complaints::kOurs);

}  // namespace reseq::demo
