// Recorded worlds: what each seed's world was when it was recorded, a line per seed from 1 on: eight hexadecimal digits
// of World::hash(). A change that is meant to change nothing keeps them all.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/world/seeds.h"

namespace reseq::simulation {

// Of the worlds that were played, by seed. False: the file cannot be written.
[[nodiscard]] bool record(const Findings& played, const std::string& path);

// Line 0 is that of seed 1. Empty: there is no such file.
[[nodiscard]] std::vector<std::string> recorded(const std::string& path);

// The seeds that were played and are not as recorded. A seed without a line is not.
[[nodiscard]] std::vector<std::uint64_t> changed(const Findings& played, const std::vector<std::string>& recorded);

}  // namespace reseq::simulation
