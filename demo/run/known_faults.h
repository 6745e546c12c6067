// KnownFaults: what has to fail in a run, from the history and the seed alone. What the run did is compared with it.
// Thread rule: one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "demo/compare/git_tree.h"
#include "demo/run/settings.h"

namespace reseq::demo {

// A document for a target.
struct TargetDocument {
  std::string target;
  std::string id;
  friend auto operator<=>(const TargetDocument&, const TargetDocument&) = default;
};

class KnownFaults {
 public:
  // Reads all contents of the history.
  static Result<KnownFaults> read(const Settings& settings, const std::string& commit);

  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  // Commits with a file that is no JSON.
  [[nodiscard]] const std::vector<std::uint64_t>& commits_with_broken_files() const { return broken_commits_; }
  // Their documents.
  [[nodiscard]] std::set<std::string> broken_files(std::uint64_t commit) const;

  [[nodiscard]] bool unreadable(const TargetDocument& document, std::uint64_t sequence) const;
  [[nodiscard]] bool throws(const TargetDocument& document) const;
  // It is given up whenever it comes to work.
  [[nodiscard]] bool fails(const TargetDocument& document, std::uint64_t sequence) const {
    return unreadable(document, sequence) || throws(document);
  }
  // All documents of the tree that fail in their last version.
  [[nodiscard]] std::set<TargetDocument> failing(const GitTree& tree) const;

 private:
  explicit KnownFaults(std::uint64_t seed) : seed_(seed) {}
  void note(const std::string& path, std::uint64_t commit, const std::string& content);

  std::uint64_t seed_;
  std::uint64_t changes_ = 0;
  std::set<std::tuple<std::string, std::string, std::uint64_t>> unreadable_;  // target, path, commit
  std::vector<std::uint64_t> broken_commits_;
  std::map<std::string, std::uint64_t> last_change_;  // by path
};

}  // namespace reseq::demo
