// Random: a stream of numbers that is the same on every machine for a seed (SplitMix64, G. Steele et al., "Fast
// splittable pseudorandom number generators", 2014). The distributions of the standard library differ between
// libraries, so that they are not used.
// Thread rule: one thread.
#pragma once

#include <cstdint>

namespace reseq::load {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  // 0 .. bound-1; the bias is below bound / 2^64. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace reseq::load
