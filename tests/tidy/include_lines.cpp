#include "include_lines.h"

#include <filesystem>

namespace reseq::tidy {

std::vector<IncludeLine> include_lines(std::string_view text) {
  std::vector<IncludeLine> found;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string_view::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string_view::npos || !line.substr(word).starts_with("include")) continue;
    const std::size_t open = line.find_first_of("<\"", word);
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    if (close == std::string_view::npos) continue;
    found.push_back({std::string(line.substr(open + 1, close - open - 1)), line[open] == '"', number});
  }
  return found;
}

std::string resolve(const SourceTree& tree, std::string_view including, std::string_view name) {
  for (const std::string_view folder : {folder_of(including), std::string_view("resequencer"), std::string_view()}) {
    const std::string path = (std::filesystem::path(folder) / name).lexically_normal().generic_string();
    if (tree.find(path) != nullptr) return path;
  }
  return {};
}

}  // namespace reseq::tidy
