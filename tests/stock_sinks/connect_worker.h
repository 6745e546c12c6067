// ConnectWorker: a worker of Kafka Connect, on its own, with one connector. It may be killed and started again.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>

#include "tests/support/process.h"

namespace reseq::test {

class ConnectWorker {
 public:
  // `connector` are the lines of its properties file.
  ConnectWorker(const std::string& bootstrap_servers, const std::string& connector);

  void start();
  // kill -9: what it has in its hands is gone.
  void kill();
  // It has shut down in order when this returns: the exit code.
  int stop();

  // What it printed, since it was made.
  [[nodiscard]] std::string log() const;
  [[nodiscard]] bool running() { return process_ != nullptr && process_->running(); }

 private:
  TempDir folder_;
  std::unique_ptr<Process> process_;
};

}  // namespace reseq::test
