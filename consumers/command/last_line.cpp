#include "consumers/command/last_line.h"

#include <algorithm>

namespace reseq::command {
namespace {

std::string_view without_blanks(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

void LastLine::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    current_ += piece.substr(0, kBytesMax - std::min(kBytesMax, current_.size()));
    if (end == std::string_view::npos) return;
    if (!without_blanks(current_).empty()) last_ = current_;
    current_.clear();
    bytes.remove_prefix(end + 1);
  }
}

std::string LastLine::text() const {
  const std::string_view current = without_blanks(current_);
  return std::string(current.empty() ? without_blanks(last_) : current);
}

void LastLine::clear() {
  last_.clear();
  current_.clear();
}

}  // namespace reseq::command
