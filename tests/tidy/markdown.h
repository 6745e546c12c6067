// Links of Markdown text, without code blocks and code spans.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source_tree.h"

namespace reseq::tidy {

struct Link {
  std::string target;  // path in the tree, without anchor, no '/' at the end
  std::size_t line = 0;
};

// Links to other files of the tree; addresses and anchors within the file are left out.
[[nodiscard]] std::vector<Link> relative_links(const File& file);

}  // namespace reseq::tidy
