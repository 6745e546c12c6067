// Comparison: the documents of a sink against the tree of a commit, blob by blob.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "demo/compare/git_tree.h"
#include "demo/compare/sink_view.h"

namespace reseq::demo {

inline constexpr std::size_t kMaxExamples = 5;

struct Comparison {
  std::uint64_t expected = 0;         // documents of the tree
  std::uint64_t equal = 0;            // there, live, same bytes
  std::uint64_t differs = 0;          // there, live, other bytes
  std::uint64_t missing = 0;          // of the tree, but absent or deleted in the sink
  std::uint64_t resurrected = 0;      // live in the sink, absent from the tree
  std::vector<std::string> examples;  // the first few paths that are not right, and how
  std::vector<std::string> differing_paths, missing_paths;

  [[nodiscard]] std::uint64_t wrong() const { return differs + missing; }
  [[nodiscard]] bool right() const { return equal == expected && wrong() == 0 && resurrected == 0; }
};

Result<Comparison> compare(SinkView& sink, const std::string& repository, const GitTree& tree,
                           const std::string& scratch_folder);

}  // namespace reseq::demo
