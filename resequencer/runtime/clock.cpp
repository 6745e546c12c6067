#include "runtime/clock.h"

#include <chrono>

namespace reseq::runtime {

UnixMs SystemClock::now() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return UnixMs(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

Milliseconds SystemClock::steady() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Milliseconds(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

}  // namespace reseq::runtime
