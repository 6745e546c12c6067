// Preloaded (LD_PRELOAD), moves what std::chrono::system_clock says by RESEQ_TEST_CLOCK_SHIFT_S seconds. Nothing else
// is moved: librdkafka and pthreads ask the kernel (docs/testing.md, "Chaos").
// Thread rule: any thread.
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t shift_ns() {
  const char* seconds = std::getenv("RESEQ_TEST_CLOCK_SHIFT_S");
  return seconds == nullptr ? 0 : std::strtoll(seconds, nullptr, 10) * kNsPerSecond;
}

}  // namespace

// The symbol of std::chrono::system_clock::now(): a time_point is one 64-bit number of nanoseconds, and is returned as
// one. <chrono> is not included, because it declares the function with its own type.
extern "C" std::int64_t _ZNSt6chrono3_V212system_clock3nowEv() {
  static const std::int64_t kShift = shift_ns();
  timespec now{};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec + kShift;
}
