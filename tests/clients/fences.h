// Fenced code of Markdown files: what a page shows is what the tests run.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reseq::test {

struct Fence {
  std::string label;  // all that stands behind the opening ```
  std::string text;   // the lines in between, each with its newline
  int line = 0;       // of the opening fence, from 1
};

// The fences of a text in their order. REQUIRES: none lies inside a list or a quotation.
[[nodiscard]] std::vector<Fence> fences_of(std::string_view markdown);

// A file of the source tree, `path` from its root. Throws when it cannot be read.
[[nodiscard]] std::string source_file(const std::string& path);

[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);
[[nodiscard]] std::string replaced(std::string text, std::string_view what, std::string_view with);

}  // namespace reseq::test
