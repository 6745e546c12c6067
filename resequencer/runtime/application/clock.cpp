#include "runtime/application/clock.h"

#include <chrono>
#include <ctime>

#include "base/assert.h"

namespace reseq::runtime {

UnixMs SystemClock::now() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return UnixMs(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

Milliseconds SystemClock::steady() const {
  // Goes on while the host sleeps, as the brokers' time-outs do.
  timespec since{};
  const int asked = ::clock_gettime(CLOCK_BOOTTIME, &since);
  RESEQ_ASSERT(asked == 0, "the kernel has no CLOCK_BOOTTIME");
  return Milliseconds(std::int64_t{since.tv_sec} * 1000 + since.tv_nsec / 1'000'000);
}

}  // namespace reseq::runtime
