// The program around a sink: the options that all of them have, and the loop that follows a topic until SIGTERM.
// Thread rule: one thread; run() owns the process's handlers of SIGTERM and SIGINT.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/sink/store.h"
#include "kafka/connection_arguments.h"

namespace reseq::sink {

struct Arguments {
  kafka::ConnectionArguments connection;
  std::string topic;
  std::string check = "on";
  std::string target;
  std::string progress_file;
};

void declare(CLI::App& app, Arguments& arguments);

using OpenStore = std::function<Result<std::unique_ptr<Store>>(const StoreIdentity&)>;

// Follows the topic until SIGTERM or SIGINT and answers the exit code of the program.
[[nodiscard]] int run(const std::string& program, const Arguments& arguments, const OpenStore& open);

}  // namespace reseq::sink
