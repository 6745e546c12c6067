// BackOff: how long to wait before the next try: twice as long each time, up to a bound, and never the same for two
// who failed together.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace reseq::remote {

struct BackOffLimits {
  std::chrono::milliseconds first{100};
  std::chrono::milliseconds longest{10'000};
};

class BackOff {
 public:
  explicit BackOff(BackOffLimits limits) : limits_(limits) {}

  // `random`: any number. Between a half and the whole of first * 2^n, n = tries since the last success.
  [[nodiscard]] std::chrono::milliseconds next(std::uint64_t random);
  void succeeded() { tries_ = 0; }

 private:
  BackOffLimits limits_;
  unsigned tries_ = 0;
};

}  // namespace reseq::remote
