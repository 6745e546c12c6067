// posix_spawn with redirected descriptors. No shell is involved: arguments reach the program as they are.
// Thread rule: any thread.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace reseq::demo {

// Descriptors that the program gets as 0, 1 and 2; a negative one becomes /dev/null. The caller keeps its own.
struct Descriptors {
  int in = -1;
  int out = -1;
  int err = -1;
};

// The program starts with default signal handlers and an empty signal mask, whatever the caller ignores.
Result<pid_t> spawn(const std::vector<std::string>& arguments, const Descriptors& descriptors);

}  // namespace reseq::demo
