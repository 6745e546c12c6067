// fixed_hash: of an id, the same in every process and for whoever decides it again (FNV-1a). For what only spreads and
// counts: ids that were chosen to collide change nothing but that.
// Thread rule: pure function.
#pragma once

#include <cstdint>

#include "model/command.h"

namespace reseq::engine {

[[nodiscard]] inline std::uint64_t fixed_hash(DocumentId id, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325U + seed;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace reseq::engine
