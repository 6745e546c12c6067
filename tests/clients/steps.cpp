#include "tests/clients/steps.h"

#include <algorithm>
#include <fnmatch.h>
#include <iterator>
#include <sstream>

#include "tests/clients/fences.h"

namespace reseq::test {

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

bool matches(const std::string& expected, const std::string& got) {
  const auto patterns = words_of(expected);
  const auto words = words_of(got);
  return std::equal(patterns.begin(), patterns.end(), words.begin(), words.end(),
                    [](const std::string& pattern, const std::string& word) {
                      return ::fnmatch(pattern.c_str(), word.c_str(), FNM_NOESCAPE) == 0;
                    });
}

// The lines that a client prints of its own accord are its log and that of its library.
std::vector<std::string> results_in(const std::vector<std::string>& lines) {
  std::vector<std::string> results;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(results),
               [](const std::string& line) { return line.starts_with("read ") || line.starts_with("index "); });
  return results;
}

}  // namespace

std::vector<std::string> differences(const std::string& steps, const Transcript& transcript) {
  const std::vector<std::string> expected = results_in(lines_of(steps));
  const std::vector<std::string> got = results_in(transcript.lines);
  std::vector<std::string> found;
  if (transcript.exit_code != 0)
    found.push_back("exit code " + std::to_string(transcript.exit_code) + "\n" + transcript.text());
  for (std::size_t i = 0; i < std::max(expected.size(), got.size()); ++i) {
    const std::string want = i < expected.size() ? expected[i] : "(nothing)";
    const std::string have = i < got.size() ? got[i] : "(nothing)";
    if (!matches(want, have)) found.push_back("\nexpected " + want + "\ngot      " + have);
  }
  return found;
}

}  // namespace reseq::test
