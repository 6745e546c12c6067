// Reads the history of an application from its brokers, as any read_committed reader would, all topics at once.
// Thread rule: plain functions.
#pragma once

#include <map>

#include "base/result.h"
#include "runtime/application/application.h"
#include "tests/judge/history.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

// For each question to the brokers.
inline constexpr Milliseconds kAskLimit{30'000};

// From the beginning of each log to its high watermark. An open transaction is waited for until `patience` is over;
// then it is told, and what lies behind it is not read. An error: the brokers cannot be read.
Result<> read_history(const runtime::Application& application, Milliseconds patience, History& history,
                      Verdict& verdict);

// What the group of the application committed of its inputs; kNoOffset where nothing.
Result<std::map<Place, Offset>> read_offsets(const runtime::Application& application);

}  // namespace reseq::judge
