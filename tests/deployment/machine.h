// A machine to install packages on, as it may be broken and thrown away: the files of this one under a layer that takes
// every change, seen only by what is started in it. The network is that of this machine. Needs root.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {

struct Outcome {
  int code = 0;
  std::string text;  // stdout and stderr together
};

using Words = std::vector<std::string>;

// Runs a command of this machine to its end.
[[nodiscard]] Outcome run_here(const Words& command, int limit_ms = 60'000);

enum class Init : unsigned char {
  kNone,     // as in a container: nothing runs but what is started
  kSystemd,  // runs as process 1
};

class Machine {
 public:
  explicit Machine(Init init);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Runs a command to its end, with nothing in its environment but PATH and `environment` (NAME=value).
  [[nodiscard]] Outcome run(const Words& command, const std::string& user = "root", const Words& environment = {});
  // A line of the shell, as root.
  [[nodiscard]] Outcome shell(const std::string& line) { return run({"sh", "-ec", line}); }
  // REQUIRES: Init::kNone
  [[nodiscard]] std::unique_ptr<Process> start(const Words& command, const std::string& user, const Words& environment,
                                               const std::string& log_file);
  // Content of one of its files; empty: there is none.
  [[nodiscard]] std::string content(const std::string& path) const;
  // Files whose names hold this, among those that were made or changed since it exists.
  [[nodiscard]] Words changed(const std::string& part_of_name);
  // A folder of its own that it sees under the same name.
  [[nodiscard]] const std::string& shared() const { return folder_.path(); }

 private:
  [[nodiscard]] Words enter() const;
  [[nodiscard]] std::string root() const { return "/proc/" + std::to_string(holder_->pid()) + "/root"; }

  Init init_;
  TempDir folder_;
  std::unique_ptr<Process> holder_;
};

}  // namespace reseq::test
