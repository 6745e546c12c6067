// The program around a remote sink: the options that all of them have, --check, and the loop that runs until SIGTERM.
// Thread rule: one thread; run() owns the process's handlers of SIGTERM and SIGINT.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/remote/remote_store.h"
#include "kafka/connection_arguments.h"
#include "kafka/settings.h"

namespace reseq::remote {

struct Arguments {
  kafka::ConnectionArguments connection;
  std::string topic;
  std::string group;
  std::string instance_id;
  std::string versions = "on";
  std::string target;
  std::string dead_letters = "topic";
  std::string dead_letter_topic;
  std::uint64_t batch_records = 2'000;
  std::uint64_t batch_bytes = 8 * 1024 * 1024;
  std::uint64_t batch_ms = 50;
  std::uint64_t buffer_bytes = 64 * 1024 * 1024;
  std::uint64_t connections = 2;
  std::uint64_t in_flight_batches = 2;
  std::uint64_t session_timeout_ms = 10'000;
  std::string http_listen;
  std::string progress_file;
  std::string log_level = "info";
  std::string log_format = "text";
  bool skip_lost = false;
  bool only_check = false;
};

void declare(CLI::App& app, Arguments& arguments);

// The store as the program's own options say; called after the command line was read, and may ask Kafka. kInvalid: they
// cannot be.
using MakeOpen = std::function<Result<OpenRemoteStore>(const kafka::Connection&)>;

// Follows the topic until SIGTERM or SIGINT, or only checks; answers the exit code of the program.
[[nodiscard]] int run(const std::string& program, Arguments arguments, const MakeOpen& make_open);

}  // namespace reseq::remote
