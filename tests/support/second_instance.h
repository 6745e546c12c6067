// SecondInstance: one more instance of a sink that runs already, in its group, killed again and again.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {

class SecondInstance {
 public:
  // Starts it. `command` is the command line of the first one. It has a name of its own in the group (--instance-id):
  // it gets its partitions again as soon as it is back.
  explicit SecondInstance(std::vector<std::string> command);

  // kill -9, and the same once more.
  void kill_and_start();
  // In order: the exit code. Its partitions are free when its session is over.
  int stop();

  // The one that runs now has got partitions.
  [[nodiscard]] bool is_at_work() const { return times_at_work() > times_before_; }
  [[nodiscard]] std::string log() const;

 private:
  void start();
  [[nodiscard]] int times_at_work() const;

  TempDir folder_;
  std::vector<std::string> command_;
  std::unique_ptr<Process> process_;
  int times_before_ = 0;
};

}  // namespace reseq::test
