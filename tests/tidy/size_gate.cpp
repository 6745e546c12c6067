#include <algorithm>
#include <string>
#include <vector>

#include "code_text.h"
#include "gates.h"

namespace reseq::tidy {
namespace {

constexpr std::size_t kFileLinesMax = 500;
constexpr std::size_t kFunctionLinesMax = 60;
constexpr std::size_t kColumnsMax = 120;
constexpr std::size_t kRootBuildFileLinesMax = 60;
constexpr std::size_t kMainLinesMax = 80;

bool is_script(const File& file) {
  return file.text.starts_with("#!");
}

// Files that people read line by line. Rows of Markdown tables and scenarios and strings of JSON cannot be wrapped.
bool has_columns(const File& file) {
  return is_cpp(file.path) || is_script(file) ||
         ends_with_any(file.path, {".cmake", "CMakeLists.txt", "Dockerfile", ".yml", ".py", ".sql", ".toml", ".html",
                                   ".css", ".js"});
}

// The licence is as long as it is; golden files are bytes.
bool has_length(const File& file) {
  return file.path != "LICENSE" && file.path.find("golden/") == std::string::npos;
}

std::size_t length_limit(std::string_view path) {
  if (path == "CMakeLists.txt") return kRootBuildFileLinesMax;
  if (path == "resequencer/main.cpp") return kMainLinesMax;
  return kFileLinesMax;
}

// Characters, not bytes: UTF-8 continuation bytes do not count.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string too_many(std::string_view what, std::size_t have, std::size_t limit) {
  return std::string(what) + ": " + std::to_string(have) + ", at most " + std::to_string(limit);
}

void check_columns(const File& file, Violations& found) {
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    if (columns(line) > kColumnsMax)
      found.push_back({file.path, number, too_many("columns", columns(line), kColumnsMax)});
  }
}

void check_functions(const File& file, Violations& found) {
  for (const Function& function : functions_of(file.text)) {
    if (function.lines() <= kFunctionLinesMax) continue;
    found.push_back({file.path, function.first_line,
                     too_many("lines of " + function.head.substr(0, 60), function.lines(), kFunctionLinesMax)});
  }
}

}  // namespace

Violations check_sizes(const SourceTree& tree) {
  Violations found;
  for (const File& file : tree.files()) {
    const std::size_t lines = lines_of(file.text).size();
    const std::size_t limit = length_limit(file.path);
    if (has_length(file) && lines > limit) found.push_back({file.path, 0, too_many("lines", lines, limit)});
    if (has_columns(file)) check_columns(file, found);
    if (is_cpp(file.path)) check_functions(file, found);
  }
  return found;
}

}  // namespace reseq::tidy
