// resequencer: one program, one subcommand per thing an operator does. Exit codes are those of sysexits.h, listed in
// docs/operating.md.
#include <cstdio>

#include "cli/command_line.h"

int main(int argc, char** argv) {
  return reseq::cli::run_command_line(argc, argv);
}
