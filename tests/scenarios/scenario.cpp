#include "scenario.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/assert.h"

namespace reseq::scenarios {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string>& words, std::size_t from = 0) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i) text += (i == from ? "" : " ") + words[i];
  return text;
}

Line line_of(int number, const std::string& text) {
  Line line;
  line.number = number;
  const std::size_t arrow = text.find("->");
  line.words = words_of(text.substr(0, arrow));
  if (arrow != std::string::npos) line.expected = joined(words_of(text.substr(arrow + 2)));
  line.verb = line.words.front();
  line.words.erase(line.words.begin());
  return line;
}

void read_file(const std::filesystem::path& path, std::vector<Case>& cases) {
  std::ifstream in(path);
  int number = 0;
  const std::size_t before = cases.size();
  for (std::string text; std::getline(in, text);) {
    ++number;
    text.erase(std::min(text.find('#'), text.size()));
    const std::vector<std::string> words = words_of(text);
    if (words.empty()) continue;
    if (words.front() == "case") {
      cases.push_back({path.filename().string(), number, joined(words, 1), {}});
      continue;
    }
    RESEQ_ASSERT(cases.size() > before, "a scenario line outside of a case");
    cases.back().lines.push_back(line_of(number, text));
  }
}

}  // namespace

std::vector<Case> read_cases(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const auto& path : paths) read_file(path, cases);
  return cases;
}

}  // namespace reseq::scenarios
