// Draws: numbers that depend on a seed and on what they are drawn for, and on nothing else. Whoever draws for the same
// thing gets the same numbers, in another process and after a crash as well.
// Thread rule: one thread per object.
#pragma once

#include <cstdint>
#include <string_view>

#include "producers/load/random.h"

namespace reseq::chaos {

class Draws {
 public:
  // `what`: words and numbers that name what is drawn for.
  template <typename... What>
  explicit Draws(std::uint64_t seed, const What&... what) : random_(seed) {
    (mix(what), ...);
  }

  [[nodiscard]] std::uint64_t next() { return random_.next(); }
  // 0 .. bound - 1. REQUIRES: bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  [[nodiscard]] bool chance(std::uint64_t per_mille) { return below(1'000) < per_mille; }
  // From [first, first * 2 ^ octaves): each octave is as likely as any other, as by Zipf's law.
  [[nodiscard]] std::uint64_t octaves(std::uint64_t first, std::uint64_t octaves) {
    const std::uint64_t low = first << below(octaves);
    return low + below(low);
  }

 private:
  void mix(std::uint64_t number) { random_ = load::Random(random_.next() ^ number); }
  // FNV-1a.
  void mix(std::string_view word) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : word) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    mix(hash);
  }

  load::Random random_;
};

}  // namespace reseq::chaos
