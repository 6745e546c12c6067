// Log lines: key=value, at the edges only, outside text escaped and capped. spdlog writes them.
// Thread rule: any thread.
#pragma once

#include <spdlog/spdlog.h>
#include <string>
#include <string_view>

namespace reseq::log {

// Sets level ("debug", "info", "warning", "error") and pattern of the process's log on stderr.
void open(std::string_view level);

// Text from outside (topics, ids, broker messages) on its way into a log line: printable ASCII stays, everything else
// becomes \xHH, quotes are escaped, and what is longer than 256 bytes is cut with its length.
[[nodiscard]] std::string outside(std::string_view text);

}  // namespace reseq::log
