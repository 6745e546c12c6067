// Process: a program started by a test, killed with it.
// Thread rule: one thread.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/child.h"

namespace reseq::test {

class Process {
 public:
  // Starts argv[0] with argv; its output goes to log_file (appended). No shell is involved.
  Process(const std::vector<std::string>& argv, std::string log_file);

  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  [[nodiscard]] bool running() { return child_.running(); }
  void signal(int number) { child_.signal(number); }
  // Exit code, or 128 + signal. Waits up to the limit, then kills and returns -1.
  int wait(int limit_ms);

  // The end of what it printed, for the message of a failed test.
  [[nodiscard]] std::string tail(std::size_t bytes = 4000) const;

 private:
  std::string log_file_;
  Child child_;
};

// Directory that is removed with its content.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Path of a program of this build: beside the test program.
[[nodiscard]] std::string program(const std::string& name);

}  // namespace reseq::test
