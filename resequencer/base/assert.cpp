#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace reseq {

void assertion_failed(const char* condition, const char* file, int line, const char* meaning) {
  std::fprintf(stderr, "assertion failed: %s (%s) at %s:%d\n", meaning, condition, file, line);
  std::abort();
}

}  // namespace reseq
