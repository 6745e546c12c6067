// Seeds: plays many worlds in several processes, so that a world that ends its process by an assertion is told by its
// seed like any other failure.
// Thread rule: one thread, which must be the only one of its process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/guards.h"
#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/scenario.h"

namespace reseq::simulation {

struct Run {
  std::uint64_t from = 1;
  std::uint64_t seeds = 1;
  std::size_t jobs = 1;
  Guards guards;
  std::int32_t partitions = 0;  // of each world; 0: as each draws it
  Profile profile = Profile::kPlain;
  bool until_first = false;  // a failure ends the run
  bool tell_each = false;    // every failure, on standard error
};

struct Failure {
  std::uint64_t seed = 0;
  std::string what;
};

struct Findings {
  std::optional<Failure> first;  // by seed
  std::uint64_t failures = 0;
  std::map<std::uint64_t, std::uint64_t> hashes;  // of each world, by its seed
  Counters counters;
};

[[nodiscard]] Findings play(const Run& run);

// Processors that may be used.
[[nodiscard]] std::size_t jobs();

}  // namespace reseq::simulation
