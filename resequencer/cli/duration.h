// Durations on the command line: 90s, 10m, 2h.
// Thread rule: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace reseq::cli {

// Makes an option for milliseconds take a number with its unit.
[[nodiscard]] inline CLI::AsNumberWithUnit duration() {
  static const std::map<std::string, std::int64_t> units = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  return CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME");
}

}  // namespace reseq::cli
