// The part `orders`: what targets cost that get every version in order, against the same with those that get the newest
// one, and against resequencers in memory.
// Thread rule: one thread; each function throws when an output is wrong or a version is missing.
#pragma once

#include <cstdint>

#include "tests/bench/metrics.h"

namespace reseq::bench {

// One round of each.
void measure_versions(const Site& site, std::uint64_t requests, Report& report);
void measure_losses(const Site& site, std::uint64_t requests, Report& report);
void measure_held_restore(const Site& site, std::uint64_t results, Report& report);
// Against resequencers in memory only if the site has them.
void measure_resequencers(const Site& site, std::uint64_t requests, Report& report);

}  // namespace reseq::bench
