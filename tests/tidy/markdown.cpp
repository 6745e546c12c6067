#include "markdown.h"

#include <filesystem>

namespace reseq::tidy {
namespace {

std::string without_code_spans(std::string_view line) {
  std::string text;
  bool in_code = false;
  for (const char letter : line) {
    if (letter == '`') in_code = !in_code;
    text += in_code ? ' ' : letter;
  }
  return text;
}

// Path in the tree that `target`, written in a file of `folder`, leads to.
std::string path_of(std::string_view folder, std::string_view target) {
  target = target.substr(0, target.find('#'));
  std::string path = (std::filesystem::path(folder) / target).lexically_normal().generic_string();
  while (path.ends_with('/')) path.pop_back();
  return path == "." ? std::string() : path;
}

void collect(std::string_view line, std::string_view folder, std::size_t number, std::vector<Link>& links) {
  for (std::size_t at = line.find("]("); at != std::string_view::npos; at = line.find("](", at + 2)) {
    const std::size_t end = line.find_first_of(") ", at + 2);
    if (end == std::string_view::npos) return;
    const std::string_view target = line.substr(at + 2, end - at - 2);
    const bool is_address = target.find("://") != std::string_view::npos || target.starts_with("mailto:");
    if (!target.empty() && !is_address && target[0] != '#') links.push_back({path_of(folder, target), number});
  }
}

}  // namespace

std::vector<Link> relative_links(const File& file) {
  std::vector<Link> links;
  std::size_t number = 0;
  bool in_block = false;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    if (line.starts_with("```")) in_block = !in_block;
    if (!in_block) collect(without_code_spans(line), folder_of(file.path), number, links);
  }
  return links;
}

}  // namespace reseq::tidy
