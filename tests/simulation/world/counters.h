// Counters: how often something happened in simulated worlds, by name. They show that a run met what it is meant to.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace reseq::simulation {

using Counters = std::map<std::string, std::uint64_t, std::less<>>;

inline void add(Counters& sum, const Counters& more) {
  for (const auto& [name, count] : more) sum[name] += count;
}

}  // namespace reseq::simulation
