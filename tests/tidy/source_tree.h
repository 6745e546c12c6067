// SourceTree: the files of the project as the gates see them: those that git tracks or would track.
// Invariants: paths are relative to the root, with '/', sorted; a file that holds a zero byte has its path only.
// Thread rule: plain value.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace reseq::tidy {

struct File {
  std::string path;
  std::string text;
};

struct Violation {
  std::string path;
  std::size_t line = 0;  // 0 = the whole file
  std::string meaning;
};
using Violations = std::vector<Violation>;

class SourceTree {
 public:
  // For self-tests: a tree out of snippets.
  explicit SourceTree(std::vector<File> files);

  // What `git ls-files` lists below `root`, without files that are deleted but not yet forgotten. Empty when `root` is
  // no git checkout.
  static SourceTree of_checkout(const std::filesystem::path& root);
  // The checkout that the test was built from, read once.
  static const SourceTree& of_this_project();

  [[nodiscard]] const std::vector<File>& files() const { return files_; }
  [[nodiscard]] const File* find(std::string_view path) const;  // null when there is none
  // True for a file or for a folder that holds one.
  [[nodiscard]] bool has(std::string_view path) const;

 private:
  std::vector<File> files_;
};

// One violation per line, for a person.
[[nodiscard]] std::string to_text(const Violations& violations);

[[nodiscard]] bool ends_with_any(std::string_view path, const std::vector<std::string_view>& endings);
[[nodiscard]] bool is_cpp(std::string_view path);
// The part behind the last '/'.
[[nodiscard]] std::string_view name_of(std::string_view path);
// The part before the last '/', empty at the top.
[[nodiscard]] std::string_view folder_of(std::string_view path);
// Lines without their ends; a last line without an end counts.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
// A letter, a digit or '_'.
[[nodiscard]] bool is_word_letter(char letter);
// `word` stands in `line` with none of these beside it.
[[nodiscard]] bool has_word(std::string_view line, std::string_view word);

}  // namespace reseq::tidy
