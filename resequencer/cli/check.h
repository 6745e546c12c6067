// check: looks at everything that `run` rests on, without changing anything: brokers, topics, state folder, and the
// state in the changelog.
// Thread rule: main thread.
#pragma once

#include "base/result.h"
#include "cli/findings.h"
#include "config/settings.h"

namespace reseq::cli {

enum class ReadState : bool { kNo, kYes };

// Prints what it found. kInvalid, without a message: something must be put right before `run`, and was printed.
Result<> check(config::Settings settings, ReadState read_state, Format format);

}  // namespace reseq::cli
