// Repository: a git repository as the git program sees it (work tree, linked work tree or bare), at one commit.
// Invariant: the whole first-parent history of the commit is there; a shallow clone is deepened or refused.
// Thread rule: plain value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace reseq::git {

class Repository {
 public:
  // `revision` is what git understands ("HEAD", a branch, a hash) and is resolved once. A shallow clone that has a
  // remote is deepened by `git fetch --unshallow`. kInvalid with a line that names the fix: no repository, no such
  // commit, still shallow.
  [[nodiscard]] static Result<Repository> open(const std::filesystem::path& path, const std::string& revision);

  [[nodiscard]] const std::string& commit() const { return commit_; }

  // The place of a revision on the first-parent chain of the commit, 1 = root. kInvalid: it does not stand there.
  [[nodiscard]] Result<std::uint64_t> place_of(const std::string& revision) const;

  // The argument vector of a git command in this repository.
  [[nodiscard]] std::vector<std::string> command(std::vector<std::string> arguments) const;

 private:
  explicit Repository(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] Result<bool> shallow() const;
  [[nodiscard]] Result<std::string> answer(std::vector<std::string> arguments) const;
  [[nodiscard]] Result<> deepen() const;

  std::filesystem::path path_;
  std::string commit_;
};

}  // namespace reseq::git
