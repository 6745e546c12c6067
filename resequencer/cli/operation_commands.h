// The commands that change something in a running application, on the command line (cli/operations.h, cli/reprocess.h,
// cli/redrive.h).
// Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/operations.h"
#include "cli/option_values.h"
#include "cli/selection.h"

namespace reseq::cli {

// What was typed for any of them.
struct OperationArguments {
  OperationOptions options;
  std::int64_t timeout_ms = admin::kTimeoutDefault.value();
  ExpireRequest expire;
  SkipRequest skip;
  std::optional<std::string> until;
  FloorRequest floor;
  Expectation expected;
  std::optional<std::int32_t> partition;
  bool all_partitions = false;
  std::optional<std::string> resumed_target;
  std::uint32_t epoch = 0;
  std::vector<std::string> places;
  bool unknown = false;
  GivenId id;
  Selection selection;
  std::int64_t older_than_ms = 0;
  bool old = false;
  LetterFilter filter;
  std::int64_t since_ms = 0;
  bool all_letters = false;
};

struct OperationCommands {
  CLI::App* expire = nullptr;
  CLI::App* dispatch_now = nullptr;
  CLI::App* dispatch_postpone = nullptr;
  CLI::App* skip = nullptr;
  CLI::App* release = nullptr;
  CLI::App* reprocess = nullptr;
  CLI::App* reset = nullptr;
  CLI::App* floor = nullptr;
  CLI::App* pause = nullptr;
  CLI::App* resume = nullptr;
  CLI::App* letters_list = nullptr;
  CLI::App* letters_show = nullptr;
  CLI::App* letters_redrive = nullptr;

  [[nodiscard]] std::vector<CLI::App*> all() const {
    return {expire, dispatch_now, dispatch_postpone, skip,         release,        reprocess, reset, floor,
            pause,  resume,       letters_list,      letters_show, letters_redrive};
  }
};

[[nodiscard]] OperationCommands declare_operations(CLI::App& app, OperationArguments& into);
// Does the one that was typed. Nothing: it was none of these.
[[nodiscard]] std::optional<Result<>> run_operation(const OperationCommands& commands, OperationArguments arguments,
                                                    const config::Settings& settings);

}  // namespace reseq::cli
