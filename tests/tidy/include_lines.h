// The #include lines of a file and the files they mean, with the two include folders of the build: the root and
// resequencer/.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source_tree.h"

namespace reseq::tidy {

struct IncludeLine {
  std::string name;
  bool quoted = false;
  std::size_t line = 0;
};

[[nodiscard]] std::vector<IncludeLine> include_lines(std::string_view text);

// Path of the file that a quoted include means: beside the including file, below resequencer/, or from the root.
// Empty when there is none.
[[nodiscard]] std::string resolve(const SourceTree& tree, std::string_view including, std::string_view name);

}  // namespace reseq::tidy
