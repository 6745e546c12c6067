#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "gates.h"
#include "include_lines.h"
#include "markdown.h"

namespace reseq::tidy {
namespace {

// A build file that takes every .cpp of its folder.
bool takes_all(const File& build) {
  return build.text.find("reseq_library(") != std::string::npos || build.text.find("reseq_test(") != std::string::npos;
}

// CMake reaches a folder when its parent adds it; tests/CMakeLists.txt adds by pattern.
bool is_added(const SourceTree& tree, std::string_view folder) {
  const std::string_view parent = folder_of(folder);
  if (parent == "tests" || parent == "tests/unit") return true;
  const File* build = tree.find(parent.empty() ? "CMakeLists.txt" : std::string(parent) + "/CMakeLists.txt");
  if (build == nullptr) return false;
  if (build->text.find("add_subdirectory(" + std::string(name_of(folder)) + ")") == std::string::npos) return false;
  return parent.empty() || is_added(tree, parent);
}

void check_source(const SourceTree& tree, const File& file, Violations& found) {
  std::string_view folder = folder_of(file.path);
  const File* build = tree.find(std::string(folder) + "/CMakeLists.txt");
  if (build == nullptr) {  // a part of the folder that it is in
    const File* outer = tree.find(std::string(folder_of(folder)) + "/CMakeLists.txt");
    const std::size_t parts = outer == nullptr ? std::string::npos : outer->text.find(" FOLDERS ");
    if (parts != std::string::npos && has_word(std::string_view(outer->text).substr(parts), name_of(folder))) {
      build = outer;
      folder = folder_of(folder);
    }
  }
  if (build == nullptr || !(takes_all(*build) || has_word(build->text, name_of(file.path)))) {
    found.push_back({file.path, 0, "no target of its folder's CMakeLists.txt builds it"});
  } else if (!is_added(tree, folder)) {
    found.push_back({file.path, 0, "no CMakeLists.txt adds its folder"});
  }
}

void check_code(const SourceTree& tree, Violations& found) {
  std::set<std::string> included;
  for (const File& file : tree.files()) {
    if (!is_cpp(file.path)) continue;
    for (const IncludeLine& include : include_lines(file.text)) {
      const std::string target = resolve(tree, file.path, include.name);
      if (include.quoted && target != file.path) included.insert(target);
    }
  }
  for (const File& file : tree.files()) {
    if (file.path.ends_with(".cpp")) check_source(tree, file, found);
    if (file.path.ends_with(".h") && !included.contains(file.path)) {
      found.push_back({file.path, 0, "nothing includes it"});
    }
  }
}

// A document needs a link of its own. Other files may be reached by a link to their folder, but not to all of docs/ or
// schemas/.
bool is_linked(std::string_view path, const std::set<std::string>& targets) {
  if (targets.contains(std::string(path))) return true;
  const std::string folder(folder_of(path));
  return !path.ends_with(".md") && folder != "docs" && folder != "schemas" && targets.contains(folder);
}

void check_documents(const SourceTree& tree, Violations& found) {
  std::set<std::string> targets;
  for (const File& file : tree.files()) {
    if (!file.path.ends_with(".md")) continue;
    for (const Link& link : relative_links(file)) {
      if (link.target != file.path) targets.insert(link.target);
    }
  }
  for (const File& file : tree.files()) {
    const bool is_document = file.path.starts_with("docs/") || file.path.starts_with("schemas/");
    if (is_document && !is_linked(file.path, targets)) found.push_back({file.path, 0, "no other .md links it"});
  }
}

// docs/decisions/NNNN-title.md: each number once, each file in the index.
void check_decisions(const SourceTree& tree, Violations& found) {
  const std::string folder = "docs/decisions/";
  const File* index = tree.find(folder + "README.md");
  std::set<std::string> listed;
  if (index != nullptr) {
    for (const Link& link : relative_links(*index)) listed.insert(link.target);
  }
  std::set<std::string> numbers;
  for (const File& file : tree.files()) {
    if (!file.path.starts_with(folder) || &file == index) continue;
    const std::string number = file.path.substr(folder.size(), 5);
    const bool is_number =
        number.size() == 5 && number[4] == '-' &&
        std::all_of(number.begin(), number.begin() + 4, [](unsigned char letter) { return std::isdigit(letter) != 0; });
    if (!is_number) found.push_back({file.path, 0, "a decision is named NNNN-title.md"});
    if (is_number && !numbers.insert(number).second) found.push_back({file.path, 0, "its number is taken"});
    if (!listed.contains(file.path)) found.push_back({file.path, 0, "not in docs/decisions/README.md"});
  }
}

}  // namespace

Violations check_orphans(const SourceTree& tree) {
  Violations found;
  check_code(tree, found);
  check_documents(tree, found);
  check_decisions(tree, found);
  return found;
}

}  // namespace reseq::tidy
