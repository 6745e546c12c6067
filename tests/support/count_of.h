// How often something stands in a text, or in how many of its lines.
// Thread rule: plain functions.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace reseq::test {

[[nodiscard]] inline int count_of(std::string_view text, std::string_view what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++found;
  return found;
}

[[nodiscard]] inline int lines_with(const std::string& text, const std::string& words) {
  int found = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) found += line.find(words) != std::string::npos ? 1 : 0;
  return found;
}

}  // namespace reseq::test
