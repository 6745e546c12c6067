// HistoryWalk: the changes of every commit of the first-parent chain, oldest first: the root commit against the empty
// tree, a merge against its first parent. Two git programs, one feeding the other, read as a stream:
//
//   git rev-list --first-parent --reverse C | git diff-tree --stdin --always -r --root --raw -z ...
//
//   output := { commit NUL { ':' mode ' ' mode ' ' blob ' ' blob ' ' status NUL path NUL } }
//
// Plumbing commands, because no setting of the user changes what they print.
// Invariants: within a commit each path comes once; memory does not grow with the history.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "producers/git/child_process.h"
#include "producers/git/output_reader.h"
#include "producers/git/repository.h"

namespace reseq::git {

enum class EntryKind : std::uint8_t {
  kBlob,     // a file or a symbolic link is there now
  kRemoved,  // one was there and is not any more
  kGitlink,  // a submodule came, moved or went: no document
};

struct Entry {
  EntryKind kind = EntryKind::kBlob;
  std::uint64_t commit_ordinal = 0;  // 1 = root commit
  std::string path;                  // raw bytes, any but NUL
  std::string blob;                  // object name, for kBlob
};

class HistoryWalk {
 public:
  [[nodiscard]] static Result<HistoryWalk> start(const Repository& repository);

  // Nothing at the end of the history. kInvalid: git failed, or printed what it should not.
  Result<std::optional<Entry>> next();

  // Object name of the commit that next() gave an entry of last; its ordinal is in the entry.
  [[nodiscard]] const std::string& commit() const { return commit_; }

 private:
  HistoryWalk(ChildProcess commits, ChildProcess changes);
  Result<std::optional<Entry>> end();
  Result<Entry> entry(std::string_view description);

  // On the heap, because the reader keeps its address.
  std::unique_ptr<ChildProcess> commits_;
  std::unique_ptr<ChildProcess> changes_;
  OutputReader output_;
  std::string commit_;
  std::uint64_t ordinal_ = 0;
  bool ended_ = false;
};

}  // namespace reseq::git
