// QuickstartRun: script/quickstart on a repository, with the programs of this build and the Kafka of the tests.
// Thread rule: one thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {

class QuickstartRun {
 public:
  // `environment` is added to that of this process, and stays.
  QuickstartRun(const std::filesystem::path& repository, const std::vector<std::string>& options,
                const std::map<std::string, std::string>& environment);

  // Requests are on their way, and not all of their results are written.
  [[nodiscard]] bool is_sending();
  // The command line of its sink behind the resequencer, without the file of its progress: for one more instance.
  // Throws when it does not run.
  [[nodiscard]] std::vector<std::string> command_of_sink(const std::string& program) const;
  // Waits for its end: the exit code.
  [[nodiscard]] int wait();
  // report.json
  [[nodiscard]] std::string report() const;
  [[nodiscard]] std::string log() const;

 private:
  TempDir folder_;
  std::string log_file_;
  Process process_;
};

}  // namespace reseq::test
