// History: all changes of the first-parent chain of a commit, as git tells them. No code of the producers is used.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reseq::demo {

struct PathChange {
  std::uint64_t commit = 0;  // its place on the chain, the root is 1
  std::string path;          // raw bytes
  std::string blob;          // object id, hex; empty: removed
};

// In the order of the commits. Submodules are no documents.
Result<std::vector<PathChange>> read_history(const std::string& repository, const std::string& commit);

// Calls `take` for each change that is no removal, in their order, with what is in the file then.
Result<> read_contents(const std::string& repository, const std::vector<PathChange>& changes,
                       const std::string& scratch_folder,
                       const std::function<void(const PathChange&, const std::string&)>& take);

// Parses `git log --format=%H --raw -z`. kInvalid when it is something else.
Result<std::vector<PathChange>> parse_history(std::string_view log);

}  // namespace reseq::demo
