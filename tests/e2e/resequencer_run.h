// ResequencerRun: an application of its own on a real broker: topics made by `resequencer init`, processes started and
// killed by pid.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "kafka/settings.h"
#include "tests/support/process.h"

namespace reseq::test {

class ResequencerRun {
 public:
  // Creates the topics. `more_toml` is appended to the configuration.
  ResequencerRun(std::string bootstrap_servers, std::string application_id, std::vector<std::string> targets,
                 const std::string& more_toml = "");

  // The program that is started from now on: a variant of the resequencer.
  void run_program(std::string name) { program_ = std::move(name); }
  // A process with instance.id = instance. `environment` (NAME=value) is added to that of the test.
  [[nodiscard]] std::unique_ptr<Process> start(int instance, const std::vector<std::string>& environment = {});

  // Deletes a topic and makes it again, without its records.
  void make_anew(const std::string& role);

  // No input waits: the group's offsets are at the stable ends of requests and commands.
  [[nodiscard]] bool drained();
  // Partitions of the changelog whose last stable offset is behind the high watermark, each with the former: a
  // transaction is open there.
  [[nodiscard]] std::map<int, std::int64_t> open_transactions();

  // Writes the configuration of an instance; where it is.
  [[nodiscard]] std::string config_file(int instance);

  [[nodiscard]] const kafka::Connection& connection() const { return connection_; }
  [[nodiscard]] const std::string& application_id() const { return application_id_; }
  [[nodiscard]] std::string topic(const std::string& role) const { return application_id_ + "." + role; }
  [[nodiscard]] std::string log_file(int instance) const;
  // Where the process keeps its copies of the state.
  [[nodiscard]] std::string state_folder(int instance) const;

 private:
  void create_topics();

  TempDir directory_;
  kafka::Connection connection_;
  std::string application_id_;
  std::vector<std::string> targets_;
  std::string more_toml_;
  std::string program_ = "resequencer";
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::Cluster> watcher_cluster_;
  std::unique_ptr<kafka::LogReader> watcher_;
};

}  // namespace reseq::test
