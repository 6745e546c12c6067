#include "cli/privacy.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/assert.h"

namespace reseq::cli {

void keep_private() {
  // Two ways, because a core that is piped to a program does not obey the limit.
  const rlimit none{0, 0};
  RESEQ_ASSERT(::setrlimit(RLIMIT_CORE, &none) == 0, "core files cannot be switched off");
  RESEQ_ASSERT(::prctl(PR_SET_DUMPABLE, 0) == 0, "the memory of this process cannot be kept private");
  ::umask(S_IRWXG | S_IRWXO);
}

}  // namespace reseq::cli
