// Draw: the one source of chance of a simulated world and Journal: the running hash of what happened in
// it. The same seed gives the same journal, on any machine.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "producers/load/random.h"

namespace reseq::simulation {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_.next(); }

  // 0 … limit - 1; 0 for a limit of 0.
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : next() % limit; }

  // True in `per_mille` of a thousand cases. Draws nothing when the answer is certain.
  bool chance(std::uint32_t per_mille) { return per_mille >= 1000 || (per_mille > 0 && below(1000) < per_mille); }

 private:
  load::Random random_;
};

class Journal {
 public:
  template <typename... Numbers>
  void note(std::string_view event, Numbers... numbers) {
    for (const char letter : event) add(static_cast<unsigned char>(letter));
    (add(static_cast<std::uint64_t>(numbers)), ...);
    ++events_;
  }

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void add(std::uint64_t value) { hash_ = ((hash_ ^ value) * 0x100000001b3U) ^ (hash_ >> 29U); }

  std::uint64_t hash_ = 0xcbf29ce484222325U;
  std::uint64_t events_ = 0;
};

}  // namespace reseq::simulation
