#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "gates.h"

namespace reseq::tidy {
namespace {

// Each word is written in two halves where this file would otherwise report itself.
constexpr std::array<std::string_view, 12> kDrawers = {"util",    "utils", "utility", "common", "helper", "helpers",
                                                       "manager", "impl",  "data",    "info",   "misc",   "stuff"};
constexpr std::array<std::string_view, 3> kReminders = {
    "TO"
    "DO",
    "FIX"
    "ME",
    "XX"
    "X"};
constexpr std::array<std::string_view, 3> kMachinePaths = {
    "/wo"
    "rk/",
    "/ro"
    "ot/",
    "/ho"
    "me/"};
// Papers that whoever has the tree does not have: a capital name and a number of a chapter.
constexpr std::array<std::string_view, 2> kPapers = {
    "RELIA"
    "BILITY",
    "DES"
    "IGN"};

// The words of a path: `some_helper.h` -> some, helper, h.
bool has_path_word(std::string_view path, std::string_view word) {
  const auto separates = [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; };
  for (std::size_t at = path.find(word); at != std::string_view::npos; at = path.find(word, at + 1)) {
    const std::size_t behind = at + word.size();
    if ((at == 0 || separates(path[at - 1])) && (behind == path.size() || separates(path[behind]))) return true;
  }
  return false;
}

// A reminder is allowed when it names its issue: `(#12)` behind it.
bool has_reminder(std::string_view line, std::string_view word) {
  return has_word(line, word) && line.find(std::string(word) + "(#") == std::string_view::npos;
}

// An absolute path, not a part of a longer one or of an address.
bool has_absolute(std::string_view line, std::string_view path) {
  for (std::size_t at = line.find(path); at != std::string_view::npos; at = line.find(path, at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 &&
        std::string_view("._-/}").find(before) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

bool cites(std::string_view line, std::string_view paper) {
  const std::size_t at = line.find(paper);
  return at != std::string_view::npos && has_word(line, paper) &&
         line.find_first_of("0123456789", at) != std::string_view::npos;
}

void check_lines(const File& file, Violations& found) {
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    for (const std::string_view word : kReminders) {
      if (has_reminder(line, word)) found.push_back({file.path, number, std::string(word) + " without an issue"});
    }
    for (const std::string_view path : kMachinePaths) {
      if (has_absolute(line, path)) found.push_back({file.path, number, "path of a machine: " + std::string(path)});
    }
    for (const std::string_view paper : kPapers) {
      if (cites(line, paper)) found.push_back({file.path, number, "cites what is not in the tree"});
    }
  }
}

}  // namespace

Violations check_words(const SourceTree& tree) {
  Violations found;
  for (const File& file : tree.files()) {
    for (const std::string_view word : kDrawers) {
      if (has_path_word(file.path, word)) found.push_back({file.path, 0, "a drawer: " + std::string(word)});
    }
    check_lines(file, found);
  }
  return found;
}

}  // namespace reseq::tidy
