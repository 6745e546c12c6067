#include <array>
#include <set>
#include <string>

#include "gates.h"

namespace reseq::tidy {
namespace {

constexpr std::array<std::string_view, 25> kTopLevel = {".ci",
                                                        ".clang-format",
                                                        ".clang-tidy",
                                                        ".dockerignore",
                                                        ".gitignore",
                                                        "CHANGELOG.md",
                                                        "CMakeLists.txt",
                                                        "CMakePresets.json",
                                                        "CONTRIBUTING.md",
                                                        "Dockerfile",
                                                        "LICENSE",
                                                        "README.md",
                                                        "SECURITY.md",
                                                        "clients",
                                                        "cmake",
                                                        "consumers",
                                                        "demo",
                                                        "deploy",
                                                        "docker-compose.yml",
                                                        "docs",
                                                        "producers",
                                                        "resequencer",
                                                        "schemas",
                                                        "script",
                                                        "tests"};

}  // namespace

Violations check_top_level(const SourceTree& tree) {
  std::set<std::string, std::less<>> have;
  for (const File& file : tree.files()) have.insert(file.path.substr(0, file.path.find('/')));
  Violations found;
  for (const std::string_view name : kTopLevel) {
    if (!have.contains(name)) found.push_back({std::string(name), 0, "missing at the top of the tree"});
    have.erase(std::string(name));
  }
  for (const std::string& name : have) found.push_back({name, 0, "does not belong at the top of the tree"});
  return found;
}

}  // namespace reseq::tidy
