// Seeds: inputs from which the fuzzers start, made of what the program itself writes and reads.
// Thread rule: pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reseq::fuzz {

struct Seed {
  std::string name;
  std::string input;
};

[[nodiscard]] std::vector<Seed> seeds_of(std::string_view target);

}  // namespace reseq::fuzz
