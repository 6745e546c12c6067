#include "tests/simulation/world/recorded.h"

#include <cstdio>
#include <fstream>

namespace reseq::simulation {

namespace {

std::string line_of(std::uint64_t hash) {
  const auto folded = static_cast<unsigned>(hash ^ (hash >> 32U));
  std::string line(8, '0');
  (void)std::snprintf(line.data(), line.size() + 1, "%08x", folded);
  return line;
}

}  // namespace

bool record(const Findings& played, const std::string& path) {
  std::ofstream file(path, std::ios::trunc);
  for (const auto& [seed, hash] : played.hashes) file << line_of(hash) << '\n';
  return static_cast<bool>(file.flush());
}

std::vector<std::string> recorded(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::uint64_t> changed(const Findings& played, const std::vector<std::string>& recorded) {
  std::vector<std::uint64_t> seeds;
  for (const auto& [seed, hash] : played.hashes)
    if (seed == 0 || seed > recorded.size() || recorded[seed - 1] != line_of(hash)) seeds.push_back(seed);
  return seeds;
}

}  // namespace reseq::simulation
