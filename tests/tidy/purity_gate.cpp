#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>

#include "code_text.h"
#include "gates.h"
#include "include_lines.h"

namespace reseq::tidy {
namespace {

constexpr std::array<std::string_view, 3> kPureFolders = {"resequencer/engine/", "resequencer/codec/",
                                                          "resequencer/driver/"};

constexpr std::array<std::string_view, 15> kHeaders = {
    "random", "thread", "mutex",    "shared_mutex", "condition_variable", "future",     "atomic",   "semaphore",
    "chrono", "ctime",  "iostream", "time.h",       "stop_token",         "base/log.h", "pthread.h"};

constexpr std::array<std::string_view, 22> kWords = {"system_clock",  "steady_clock",  "high_resolution_clock",
                                                     "utc_clock",     "clock_gettime", "gettimeofday",
                                                     "random_device", "mt19937",       "mt19937_64",
                                                     "srand",         "drand48",       "getrandom",
                                                     "thread_local",  "jthread",       "pthread_create",
                                                     "getenv",        "secure_getenv", "setenv",
                                                     "spdlog",        "printf",        "cout",
                                                     "cerr"};

// Words that are free to be names of members; only a call of the library's function is banned.
constexpr std::array<std::string_view, 4> kCalls = {"time", "rand", "clock", "random"};

// What stands in front of `name(` makes it a call of the library's function: nothing, an operator, `std::` or `::`, or
// a word that can stand in front of a call. Behind a member access, another scope or a type it is something else.
bool is_library_call(std::string_view before) {
  if (before.ends_with("std::")) return true;
  if (before.ends_with("::")) {
    before.remove_suffix(2);
    return before.empty() || !is_word_letter(before.back());
  }
  if (before.ends_with('.') || before.ends_with("->") || before.ends_with("&") || before.ends_with("*")) return false;
  if (!before.empty() && is_word_letter(before.back())) return false;
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (before.empty() || !(is_word_letter(before.back()) || before.back() == '>')) return true;
  return before.ends_with("return") || before.ends_with("else") || before.ends_with("case");
}

bool calls(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t behind = line.find_first_not_of(' ', at + name.size());
    if (behind == std::string_view::npos || line[behind] != '(') continue;
    if (is_library_call(line.substr(0, at))) return true;
  }
  return false;
}

void check_headers(const File& file, Violations& found) {
  for (const IncludeLine& include : include_lines(file.text)) {
    const bool banned = std::find(kHeaders.begin(), kHeaders.end(), include.name) != kHeaders.end();
    if (banned || include.name.starts_with("spdlog")) {
      found.push_back({file.path, include.line, "a pure folder must not include " + include.name});
    }
  }
}

void check_words_of(const File& file, Violations& found) {
  const std::string code = code_only(file.text);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    if (line.find("#include") != std::string_view::npos) continue;
    for (const std::string_view word : kWords) {
      if (has_word(line, word)) found.push_back({file.path, number, "banned in a pure folder: " + std::string(word)});
    }
    for (const std::string_view name : kCalls) {
      if (calls(line, name))
        found.push_back({file.path, number, "banned in a pure folder: " + std::string(name) + "()"});
    }
  }
}

// Names of the variables declared `…unordered_map<…> name`.
void collect_unordered(std::string_view code, std::set<std::string>& names) {
  for (std::size_t at = code.find("unordered_"); at != std::string_view::npos; at = code.find("unordered_", at + 1)) {
    std::size_t end = code.find('<', at);
    if (end == std::string_view::npos) return;
    for (int depth = 0; end < code.size(); ++end) {
      if (code[end] == '<') ++depth;
      if (code[end] == '>' && --depth == 0) break;
    }
    const std::size_t begin = code.find_first_not_of(">& \n", std::min(end, code.size()));
    std::size_t stop = begin;
    while (stop < code.size() && is_word_letter(code[stop])) ++stop;
    if (begin < stop) names.emplace(code.substr(begin, stop - begin));
  }
}

bool iterates(std::string_view line, std::string_view name) {
  const std::string text(name);
  if (line.find(text + ".begin(") != std::string_view::npos) return true;
  const std::size_t loop = line.find("for (");
  const std::size_t colon = loop == std::string_view::npos ? loop : line.find(" : ", loop);
  return colon != std::string_view::npos && has_word(line.substr(colon), name);
}

void check_iteration(const File& file, const std::set<std::string>& names, Violations& found) {
  const std::string code = code_only(file.text);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    for (const std::string& name : names) {
      if (iterates(line, name)) found.push_back({file.path, number, "unordered iteration over " + name});
    }
  }
}

}  // namespace

Violations check_purity(const SourceTree& tree) {
  Violations found;
  for (const std::string_view folder : kPureFolders) {
    std::set<std::string> unordered;
    for (const File& file : tree.files()) {
      if (is_cpp(file.path) && file.path.starts_with(folder)) collect_unordered(code_only(file.text), unordered);
    }
    for (const File& file : tree.files()) {
      if (!is_cpp(file.path) || !file.path.starts_with(folder)) continue;
      check_headers(file, found);
      check_words_of(file, found);
      check_iteration(file, unordered, found);
    }
  }
  return found;
}

}  // namespace reseq::tidy
