// What the end-to-end tests wait with, and where they take their numbers from.
// Thread rule: plain functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

namespace reseq::test {

// Nothing that is waited for in these tests takes longer, or it hangs; what may take longer has a limit of its own.
inline constexpr std::chrono::milliseconds kPatience{60'000};

// False: the limit is over and the condition still does not hold.
inline bool wait_until(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// An environment variable, to repeat a run or to change its size.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::stoull(value);
}

}  // namespace reseq::test
