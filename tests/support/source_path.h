// Where the source tree is, for tests that read its documents or run its scripts.
// Thread rule: any thread; also before main().
#pragma once

#include <string>
#include <string_view>

namespace reseq::test {

// The absolute path of a file of the tree, named from its top: "docs/metrics.md".
[[nodiscard]] std::string source_path(std::string_view file);

// The top itself.
[[nodiscard]] std::string source_dir();

}  // namespace reseq::test
