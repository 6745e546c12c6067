// Operator: an application as an operator handles it: a configuration file that is written anew for every step, and
// subcommands of the real program with what they print.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kafka/admin.h"
#include "kafka/settings.h"
#include "tests/support/process.h"

namespace reseq::test {

// What one step of an operator may take: a subcommand, or an end that was asked for.
inline constexpr int kStepLimitMs = 60'000;

struct Ran {
  int code = 0;
  std::string text;       // stdout and stderr together
  std::string last_line;  // without the newline
};

class Operator {
 public:
  explicit Operator(std::string bootstrap_servers);

  // Lines that come before the tables; [[target]] search is always there.
  std::string keys = {};
  std::string tables = "[[target]]\nname = \"search\"\n";
  std::string bootstrap_servers;
  std::string instance = "1";
  std::string state_dir;
  std::string http_listen = "127.0.0.1:0";
  std::vector<std::string> environment = {};  // NAME=value
  std::vector<std::string> in_front = {};     // a program that runs ours, with its arguments

  // Runs a subcommand to its end, for instance {"check", "--skip-state"}; --config is added.
  Ran run(const std::vector<std::string>& subcommand, int limit_ms = kStepLimitMs);
  // Starts `resequencer run`; its log is log_file().
  std::unique_ptr<Process> start();
  // Starts it, waits until it reads every partition, and hands it over.
  std::unique_ptr<Process> start_and_wait();
  [[nodiscard]] const std::string& log_file() const { return log_file_; }
  [[nodiscard]] std::string log() const;

  [[nodiscard]] const std::string& application_id() const { return application_id_; }
  [[nodiscard]] std::string topic(const std::string& role) const { return application_id_ + "." + role; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] kafka::Connection connection() const;
  // Creates one topic with these settings instead of those of init.
  void create_topic(const std::string& role, int partitions, const kafka::Properties& configs = {});
  void send(const std::string& role, const std::string& id, const std::vector<Header>& headers,
            const std::string& payload = "x");

 private:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& subcommand);

  TempDir folder_;
  std::string application_id_;
  std::string log_file_;
  int files_ = 0;
};

}  // namespace reseq::test
