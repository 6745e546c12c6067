// Bytes that no compression makes smaller, the same in every run.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace reseq::test {

inline std::string random_bytes(std::size_t bytes) {
  static std::mt19937_64 random(20'260'101);
  std::string text(bytes, '\0');
  for (std::size_t at = 0; at < bytes; at += 8) {
    const std::uint64_t next = random();
    std::memcpy(text.data() + at, &next, std::min<std::size_t>(8, bytes - at));
  }
  return text;
}

}  // namespace reseq::test
