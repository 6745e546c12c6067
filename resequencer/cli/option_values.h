// What options of the command line take: durations as 90s, 10m, 2h, and one word of a few.
// Thread rule: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

namespace reseq::cli {

// Makes an option for milliseconds take a number with its unit.
[[nodiscard]] inline CLI::AsNumberWithUnit duration() {
  static const std::map<std::string, std::int64_t> units = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  return CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME");
}

// Makes an option for an enumeration take its names, and nothing else: CLI11's own would print numbers beside them.
template <typename Enumeration>
[[nodiscard]] CLI::Validator one_of(const std::map<std::string, Enumeration>& names) {
  const auto translate = [names](std::string& word) {
    const auto found = names.find(word);
    if (found != names.end()) {
      word = std::to_string(static_cast<std::underlying_type_t<Enumeration>>(found->second));
      return std::string();
    }
    std::string all;
    for (const auto& [name, value] : names) all += (all.empty() ? "" : ", ") + name;
    return "\"" + word + "\" is none of " + all;
  };
  return CLI::Validator(translate, "");
}

}  // namespace reseq::cli
