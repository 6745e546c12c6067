// GitFixture: git repositories made by `git fast-import`, so that a test can write any path, mode and history.
// Thread rule: one thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "producers/git/git_source.h"
#include "tests/support/process.h"

namespace reseq::test {

// Commits as fast-import reads them.
class History {
 public:
  // A commit on `branch` behind its tip, or a root.
  History& commit(const std::string& branch = "main");
  // The commit that was begun last becomes a merge: its second parent is the tip of `branch`.
  History& merge(const std::string& branch);
  // `branch` begins at the tip of `from`.
  History& branch(const std::string& name, const std::string& from);
  History& file(const std::string& path, const std::string& content, const std::string& mode = "100644");
  History& gitlink(const std::string& path);
  History& remove(const std::string& path);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class GitFixture {
 public:
  GitFixture();

  // A bare repository with this history; replaces what a repository of that name had.
  std::filesystem::path make(const History& history, const std::string& name = "repository.git");
  [[nodiscard]] std::filesystem::path place(const std::string& name) const;

  // Runs git and returns what it printed; throws when it fails.
  static std::string git(const std::filesystem::path& repository, std::vector<std::string> arguments);

 private:
  TempDir folder_;
};

using Documents = std::map<std::string, std::string>;

struct Replayed {
  std::vector<tagging::Change> changes;
  std::vector<std::string> unusable;  // place and reason
  Documents documents;                // what the changes leave when they are applied in order
  int added = 0;
  int modified = 0;
  int removed = 0;
  std::uint64_t gitlinks = 0;
};

// Throws when the source cannot be opened or read.
std::unique_ptr<git::GitSource> open_source(const std::filesystem::path& repository, git::GitOptions options = {},
                                            const std::string& revision = "HEAD");
Replayed replay(git::GitSource& source);
Replayed replay(const std::filesystem::path& repository, git::GitOptions options = {});

// path -> object name of every blob of HEAD, as ls-tree says; submodules left out.
Documents blobs_of_head(const std::filesystem::path& repository);
// path -> object name, as `git hash-object` says of the contents.
Documents object_names(const Documents& documents, const std::filesystem::path& repository);

}  // namespace reseq::test
