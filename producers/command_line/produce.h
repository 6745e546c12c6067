// Produce: one run of reseq-produce, from arguments to exit code.
// Thread rule: one thread; `stop` may be set by a signal handler.
#pragma once

#include <atomic>

#include "producers/command_line/arguments.h"

namespace reseq::command_line {

// Says what went wrong in one line on stderr. Returns an exit code of sysexits.h: 0 everything was acknowledged, 64
// usage, 65 bad input, 66 no input, 69 Kafka does not take it, 73 a file cannot be written, 75 stopped: run it
// again, 78 wrong properties or no such topic.
[[nodiscard]] int produce(const Arguments& arguments, const std::atomic<bool>& stop);

}  // namespace reseq::command_line
