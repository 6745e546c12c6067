// Scenario files as they stand: cases of lines of words (README.md). Nothing is understood here yet.
// Thread rule: plain values.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace reseq::scenarios {

struct Line {
  int number = 0;
  std::string verb;
  std::vector<std::string> words;
  std::string expected;  // behind `->`
};

struct Case {
  std::string file;  // without folder
  int number = 0;    // line of its `case`
  std::string sentence;
  std::vector<Line> lines;

  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.file << ":" << one.number; }  // for GoogleTest
};

// All cases of the .txt files in a folder, files by name.
[[nodiscard]] std::vector<Case> read_cases(const std::string& folder);

}  // namespace reseq::scenarios
