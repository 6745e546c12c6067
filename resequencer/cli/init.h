// init: creates the topics of an application that do not exist yet, as its records need them.
// Thread rule: main thread.
#pragma once

#include "base/result.h"
#include "config/settings.h"

namespace reseq::cli {

enum class Write : bool { kDryRun, kReally };

// Prints a line per topic. Topics that exist are left as they are; an input or changelog that exists decides how many
// partitions the others of them get. kInvalid: those that exist differ in that.
Result<> init(config::Settings settings, Write write);

}  // namespace reseq::cli
