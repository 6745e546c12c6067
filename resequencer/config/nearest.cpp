#include "config/nearest.h"

#include <algorithm>

namespace reseq::config {

namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Nearest nearest(std::string_view word, const std::vector<std::string>& known) {
  Nearest best;
  for (const std::string& candidate : known) {
    const std::size_t edits = distance(word, candidate);
    if (best.word.empty() || edits < best.edits) best = {candidate, edits};
  }
  return best;
}

}  // namespace reseq::config
