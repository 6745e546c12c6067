#include "source_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/support/source_path.h"

namespace reseq::tidy {
namespace {

// Standard output of a command; empty when it fails.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  std::array<char, 4096> chunk{};
  for (std::size_t got = 0; (got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) {
    output.append(chunk.data(), got);
  }
  return pclose(pipe) == 0 ? output : std::string();
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return text.find('\0') == std::string::npos ? text : std::string();
}

}  // namespace

SourceTree::SourceTree(std::vector<File> files) : files_(std::move(files)) {
  std::sort(files_.begin(), files_.end(), [](const File& a, const File& b) { return a.path < b.path; });
}

SourceTree SourceTree::of_checkout(const std::filesystem::path& root) {
  // The owner of the checkout may be another user than the one who runs the tests (containers).
  const std::string listing = output_of("git -c safe.directory='*' -c core.quotePath=false -C '" + root.string() +
                                        "' ls-files -co --exclude-standard -z 2>/dev/null");
  std::vector<File> files;
  for (std::size_t begin = 0; begin < listing.size();) {
    const std::size_t end = listing.find('\0', begin);
    const std::string path = listing.substr(begin, end - begin);
    if (std::filesystem::is_regular_file(root / path)) files.push_back({path, content_of(root / path)});
    begin = end + 1;
  }
  return SourceTree(std::move(files));
}

const SourceTree& SourceTree::of_this_project() {
  static const SourceTree tree = of_checkout(test::source_dir());
  return tree;
}

const File* SourceTree::find(std::string_view path) const {
  const auto at =
      std::lower_bound(files_.begin(), files_.end(), path, [](const File& file, auto p) { return file.path < p; });
  return at != files_.end() && at->path == path ? &*at : nullptr;
}

bool SourceTree::has(std::string_view path) const {
  if (path.empty() || find(path) != nullptr) return true;
  const std::string prefix = std::string(path) + "/";
  return std::any_of(files_.begin(), files_.end(), [&](const File& file) { return file.path.starts_with(prefix); });
}

std::string to_text(const Violations& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    text += violation.path;
    if (violation.line != 0) text += ":" + std::to_string(violation.line);
    text += ": " + violation.meaning + "\n";
  }
  return text;
}

bool ends_with_any(std::string_view path, const std::vector<std::string_view>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

bool is_cpp(std::string_view path) {
  return ends_with_any(path, {".h", ".cpp"});
}

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool is_word_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool open_before = at == 0 || !is_word_letter(line[at - 1]);
    const std::size_t behind = at + word.size();
    if (open_before && (behind == line.size() || !is_word_letter(line[behind]))) return true;
  }
  return false;
}

}  // namespace reseq::tidy
