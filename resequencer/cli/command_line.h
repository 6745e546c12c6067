// The command line of the program: subcommands, their options, exit codes.
// Thread rule: main thread, called once.
#pragma once

#include "runtime/application/internals.h"

namespace reseq::cli {

// The exit code of the process (sysexits.h; docs/operating.md lists them).
int run_command_line(int argc, char** argv, const runtime::Internals& internals = {});

}  // namespace reseq::cli
