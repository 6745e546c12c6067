#include "tests/clients/fences.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "tests/support/source_path.h"

namespace reseq::test {

std::vector<Fence> fences_of(std::string_view markdown) {
  constexpr std::string_view kFence = "```";
  std::vector<Fence> found;
  bool inside = false;
  int number = 0;
  for (const std::string& line : lines_of(markdown)) {
    ++number;
    if (!line.starts_with(kFence)) {
      if (inside) found.back().text += line + "\n";
      continue;
    }
    if (!inside) found.push_back({line.substr(kFence.size()), "", number});
    inside = !inside;
  }
  return found;
}

std::string source_file(const std::string& path) {
  std::ifstream file(source_path(path), std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

}  // namespace reseq::test
