// Service: the life of the process: clients opened, the worker stepped until a signal, everything closed.
// Thread rule: main thread; request_stop() from a signal handler.
#pragma once

#include "base/result.h"
#include "config/settings.h"
#include "runtime/application/internals.h"

namespace reseq::runtime {

// Runs until SIGTERM or SIGINT. An error names what a person must do.
Result<> run(config::Settings settings, const Internals& internals = {});

}  // namespace reseq::runtime
