// Outside text in a log line: printable ASCII, bounded, ended by its own quote, and nothing lost that is not said.
#include <string>

#include "base/assert.h"
#include "base/log.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

constexpr std::size_t kShown = 256;

int value_of(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

// The text between the quotes, unescaped; `at` becomes the place behind the last quote.
std::string unescaped(const std::string& line, std::size_t& at) {
  std::string text;
  for (at = 1; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\') {
      text += line[at];
    } else if (line[++at] == 'x') {
      text += static_cast<char>(value_of(line[at + 1]) << 4 | value_of(line[at + 2]));
      at += 2;
    } else {
      text += line[at];
    }
  }
  ++at;
  return text;
}

}  // namespace

void fuzz_log(std::string_view input) {
  const std::string line = log::outside(input);
  for (const char c : line) RESEQ_ASSERT(c >= ' ' && c <= '~', "a byte that a terminal or a parser would obey");
  RESEQ_ASSERT(line.size() <= 2 + 4 * kShown + 30, "a line without a bound");
  RESEQ_ASSERT(line.front() == '"', "no quote at the beginning");
  std::size_t end = 0;
  RESEQ_ASSERT(unescaped(line, end) == input.substr(0, kShown), "another text");
  const std::string shown = log::one_line(input);
  for (const char c : shown) RESEQ_ASSERT(c >= ' ' && c <= '~', "a byte that a terminal or a parser would obey");
  RESEQ_ASSERT(shown.size() >= input.size() && shown.size() <= 4 * input.size(), "text lost, or more than its escapes");
  const std::string told = input.size() > kShown ? "(" + std::to_string(input.size()) + " bytes)" : "";
  RESEQ_ASSERT(line.substr(end) == told, "a quote that outside text can write, or a length that is not told");
}

}  // namespace reseq::fuzz
