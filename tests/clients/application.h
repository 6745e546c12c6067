// Application: a resequencer of its own on a real broker, with the targets `search` and `catalogue`, and its
// third-party clients (docs/examples/clients), which know its topics and headers only.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {

struct Transcript {
  int exit_code = 0;
  std::vector<std::string> lines;  // of standard output and standard error
  [[nodiscard]] std::string text() const;
};

// Runs a program to its end, up to a limit; exit code -1 = it took longer.
[[nodiscard]] Transcript run_program(const std::vector<std::string>& argv);

enum class Client { kKcat, kPython, kJava };
[[nodiscard]] std::string name_of(Client client);

class Application {
 public:
  // Four partitions of inputs, one of work and of each output unless `more_toml` says otherwise.
  explicit Application(const std::string& more_toml = "init.work_partitions = 1\ninit.output_partitions = 1\n");

  // A client does the steps. `partitioner` is librdkafka's name for it, `default` = none is named; empty = as the
  // client does it, which is murmur2 for all three.
  [[nodiscard]] Transcript play(Client client, const std::string& steps, const std::string& partitioner = "");
  // A shell script in the words of the documentation: its `shop.` and `localhost:9092` mean this application.
  [[nodiscard]] Transcript run_script(const std::string& script);

  // The command line of the resequencer, with the configuration of this application.
  [[nodiscard]] Transcript run_command(std::vector<std::string> words);

  [[nodiscard]] const std::string& name() const { return name_; }

  // What tests/clients/asyncapi.py says of the records of all topics and an AsyncAPI document.
  [[nodiscard]] Transcript described_by(const std::string& document);

  // The end of the log of the process, for the message of a failed test.
  [[nodiscard]] std::string log() const { return process_->tail(); }

 private:
  TempDir directory_;
  std::string name_;
  std::string config_ = directory_.path() + "/shop.toml";
  std::unique_ptr<Process> process_;
};

}  // namespace reseq::test
