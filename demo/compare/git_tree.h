// GitTree: the oracle. What `git ls-tree` says must be in the index at the end, and the blobs it names. Git itself is
// asked; no code of the producers is used, so that a mistake there cannot hide itself.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/child.h"
#include "base/file_descriptor.h"
#include "base/result.h"

namespace reseq::demo {

struct TreeEntry {
  std::string path;  // raw bytes
  std::string blob;  // object id, hex
};

struct GitTree {
  std::vector<TreeEntry> entries;  // in the order of git, which is by bytes of the path
  std::uint64_t gitlinks = 0;      // submodules: no blob, so no document
};

// The object id of a revision. kInvalid: no repository, or no such revision.
Result<std::string> resolve_commit(const std::string& repository, const std::string& revision);

// Commits on the first-parent chain up to this one.
Result<std::uint64_t> count_commits(const std::string& repository, const std::string& commit);

Result<GitTree> read_tree(const std::string& repository, const std::string& commit);

// A commit and what is in it.
struct Snapshot {
  std::string commit;
  GitTree tree;
};
Result<Snapshot> read_snapshot(const std::string& repository, const std::string& revision);

// Parses the output of `git ls-tree -r -z`. kInvalid when it is something else.
Result<GitTree> parse_tree(std::string_view listing);

// The blobs of a tree, one after the other, in its order: the memory needed is that of one blob.
class BlobReader {
 public:
  static Result<BlobReader> open(const std::string& repository, const GitTree& tree, const std::string& scratch_folder);

  // Content of the next entry. REQUIRES: not called more often than the tree has entries.
  Result<std::string> next(const TreeEntry& expected);

 private:
  BlobReader(Child git, FileDescriptor output) : git_(std::move(git)), output_(std::move(output)) {}
  Result<> fill();
  Result<std::string> take_line();
  Result<std::string> take(std::size_t bytes);

  Child git_;
  FileDescriptor output_;
  std::string buffer_;
  std::size_t read_ = 0;  // bytes of buffer_ that were taken
};

}  // namespace reseq::demo
