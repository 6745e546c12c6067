// Breaker: what a partition knows of a target that cannot be reached, from the first document that failed of it until
// something is released for it. Rules of it stand in engine/failures/breakers.h.
// Thread rule: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/target.h"

namespace reseq {

inline constexpr std::size_t kMaxBreakerDocuments = 32;
inline constexpr std::size_t kMaxBreakerErrorBytes = 200;
inline constexpr Milliseconds kMaxBreakerPause{std::int64_t{366} * 24 * 3600 * 1000};

// Invariant: of a closed one only `counted`, `changed_behind` and the error are set, and one of the first two.
struct Breaker {
  TargetNumber target;
  // Of a closed one: documents that failed of it since the last release, by hashes of their ids, each once.
  std::vector<std::uint64_t> counted;
  bool open = false;
  bool until_resume = false;  // an operator has to close it: trying is of no use
  UnixMs opened_at;
  // The number of the last dispatch before it opened, or of the one that closed it: what was dispatched until then says
  // nothing of the target as it is now.
  std::uint64_t changed_behind = 0;
  std::uint64_t probe = 0;  // number of the dispatch that tries whether it can be reached, 0 = none does
  UnixMs probe_at;          // the next one not before
  Milliseconds pause;       // from a probe to the one behind it
  std::string error;        // the last one
  friend bool operator==(const Breaker&, const Breaker&) = default;
};

}  // namespace reseq
