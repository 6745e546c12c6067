#include "gates.h"
#include "markdown.h"

namespace reseq::tidy {

Violations check_links(const SourceTree& tree) {
  Violations found;
  for (const File& file : tree.files()) {
    if (!file.path.ends_with(".md")) continue;
    for (const Link& link : relative_links(file)) {
      if (!tree.has(link.target)) found.push_back({file.path, link.line, "leads nowhere: " + link.target});
    }
  }
  return found;
}

}  // namespace reseq::tidy
