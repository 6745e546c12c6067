// Stops a process as a machine that hangs does, and lets it go on.
// Thread rule: any thread.
#pragma once

#include <sys/types.h>

namespace reseq::test {

// SIGSTOP. When this returns no thread of the process runs any more, until SIGCONT. False: there is no such process.
bool pause_process(pid_t pid);

}  // namespace reseq::test
