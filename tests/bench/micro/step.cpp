#include "tests/bench/micro/step.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <malloc.h>

namespace reseq::bench {

namespace {

double cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// A process that has run for a while has its memory. Here each batch would get fresh pages from the kernel, and steps
// that fill some would measure that.
void keep_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

}  // namespace

double cpu_ns_each(Step& step) {
  step.prepare();
  const double begin = cpu_ns();
  step.run();
  return (cpu_ns() - begin) / static_cast<double>(step.records());
}

std::vector<NamedStep> all_steps() {
  keep_memory();
  std::vector<NamedStep> all;
  for (auto part : {codec_steps(), engine_steps(), journal_steps(), store_steps()})
    std::move(part.begin(), part.end(), std::back_inserter(all));
  return all;
}

}  // namespace reseq::bench
