// The gates: rules about the tree that no compiler checks. Each one answers with what breaks it.
// If a gate forces an ugly split, split by idea or change the gate with its reason, never by exception.
// Thread rule: pure functions.
#pragma once

#include "source_tree.h"

namespace reseq::tidy {

// A folder includes only what resequencer/README.md allows; <lmdb.h> in store/ alone, librdkafka in kafka/ alone; every
// quoted include names a file of the tree.
[[nodiscard]] Violations check_includes(const SourceTree& tree);

// engine/ and codec/ have no clock, randomness, thread, environment or log, and never iterate an unordered container.
[[nodiscard]] Violations check_purity(const SourceTree& tree);

// Files, functions and lines end before they become hard to read.
[[nodiscard]] Violations check_sizes(const SourceTree& tree);

// No drawers (a name that could hold anything), no reminders without an issue, no path of somebody's machine.
[[nodiscard]] Violations check_words(const SourceTree& tree);

// Everything is reachable: sources from a CMakeLists.txt, headers from an include, documents from a link, decisions
// from their index.
[[nodiscard]] Violations check_orphans(const SourceTree& tree);

// Relative links of Markdown files lead somewhere.
[[nodiscard]] Violations check_links(const SourceTree& tree);

// The top of the tree holds exactly what it is allowed to hold.
[[nodiscard]] Violations check_top_level(const SourceTree& tree);

}  // namespace reseq::tidy
