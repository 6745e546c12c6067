// The command line of the program: subcommands, their options, exit codes.
// Thread rule: main thread, called once.
#pragma once

namespace reseq::cli {

// The exit code of the process (sysexits.h; docs/operating.md lists them).
int run_command_line(int argc, char** argv);

}  // namespace reseq::cli
