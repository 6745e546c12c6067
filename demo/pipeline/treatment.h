// Treatment: what the demo pipeline does to one record for one target, drawn from (seed, target, id, sequence) alone.
// The same seed gives the same delays, retries and duplicates in every run, whichever worker gets the record; each
// target has its own, so that what is late for one is not late for the other.
//
// Most records take a few milliseconds, some hundreds of them, a few take seconds: long enough for the document to
// change again meanwhile, which is what puts results out of order.
// Thread rule: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/ids.h"

namespace reseq::demo {

using Seed = Strong<struct SeedTag, std::uint64_t>;

struct Treatment {
  Milliseconds work;                        // until the first attempt ends
  std::optional<Milliseconds> retry{};      // the first attempt fails; the second one ends that much later
  std::optional<Milliseconds> duplicate{};  // the result is sent once more, that much later
};

// FNV-1a, with the length in front so that ("a", "bc") and ("ab", "c") differ.
inline constexpr std::uint64_t kHashBasis = 0xcbf29ce484222325U;
[[nodiscard]] std::uint64_t mix(std::uint64_t hash, std::string_view bytes);

inline constexpr Milliseconds kLongestWork{8'000};
inline constexpr Milliseconds kLongestRetry{1'500};
inline constexpr Milliseconds kLongestDuplicate{3'000};

[[nodiscard]] Treatment treatment_of(Seed seed, std::string_view target, std::string_view id,
                                     std::string_view sequence);

}  // namespace reseq::demo
