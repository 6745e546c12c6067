// What somebody probably meant: the known word that takes the fewest edits to get to.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reseq::config {

struct Nearest {
  std::string word;  // empty when no words are known
  std::size_t edits = 0;
};
// Levenshtein distance; of equally near words the first one.
[[nodiscard]] Nearest nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace reseq::config
