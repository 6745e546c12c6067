// Asks the instances that run, through the admin topics: describe, list, stats, topology, config running. It needs
// nothing but the brokers and the names of the topics, so it works from any host.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "admin/query.h"
#include "base/result.h"
#include "cli/findings.h"
#include "config/settings.h"

namespace reseq::cli {

enum class View : std::uint8_t { kTable, kWide, kJson };

struct AskOptions {
  View view = View::kTable;
  Milliseconds timeout = admin::kTimeoutDefault;
};

struct ListOptions {
  std::string id_prefix;
  admin::State state = admin::State::kLive;
  std::optional<std::string> target;  // those that are so because of it; not for kAny and kCompleted
  Milliseconds older_than{0};
  admin::WantedError error;  // of failures
  std::int64_t documents_max = 100;
};

// Each prints what it found. kTimeout: not every partition was answered for, and stderr says which were not; what came
// is printed all the same. kInvalid: the id (describe) or the target (list) is unknown, or the request was refused.
Result<> describe(const config::Settings& settings, const std::string& id, const AskOptions& options);
struct WhyOptions {
  std::int64_t last = 20;  // so many lines, the newest; a run of dropped inputs is one
  bool all = false;        // however many there are, and however long it takes
};
// Where the document stands, its dead letters, and what became of its inputs as far as the events topic tells.
Result<> why(const config::Settings& settings, const std::string& id, const WhyOptions& wanted,
             const AskOptions& options);
Result<> list(const config::Settings& settings, const ListOptions& wanted, const AskOptions& options);
Result<> stats(const config::Settings& settings, bool watch, const AskOptions& options);
Result<> topology(const config::Settings& settings, const AskOptions& options);
Result<> running_config(const config::Settings& settings, const AskOptions& options);

}  // namespace reseq::cli
