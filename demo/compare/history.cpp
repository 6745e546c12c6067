#include "demo/compare/history.h"

#include <algorithm>
#include <utility>

#include "demo/compare/git_tree.h"
#include "demo/process/child_process.h"

namespace reseq::demo {
namespace {

constexpr std::string_view kGitlink = "160000";

Error no_history(const std::string& what) {
  return {.what_to_do = ErrorClass::kInvalid, .message = "git log: " + what};
}

std::string_view next_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// A document that becomes a submodule is removed, as far as documents go; one that was a submodule is added.
// old mode SP new mode SP old object SP new object SP status
Result<> add_change(std::string_view what, std::string_view path, std::uint64_t commit,
                    std::vector<PathChange>& changes) {
  const std::string_view old_mode = next_word(what);
  const std::string_view new_mode = next_word(what);
  next_word(what);
  const std::string_view object = next_word(what);
  if (what.empty() || path.empty()) return no_history("a malformed change");
  if (what == "D" || new_mode == kGitlink) {
    if (old_mode != kGitlink && (what == "D" || what == "T")) changes.push_back({commit, std::string(path), {}});
    return Done{};
  }
  changes.push_back({commit, std::string(path), std::string(object)});
  return Done{};
}

}  // namespace

Result<std::vector<PathChange>> read_history(const std::string& repository, const std::string& commit) {
  Result<std::string> log = output_of({"git", "-C", repository, "log", "--first-parent", "--reverse", "-m", "--root",
                                       "--raw", "-z", "--no-abbrev", "--no-renames", "--format=%H", commit, "--"});
  if (!log) return log.error();
  return parse_history(log.value());
}

Result<> read_contents(const std::string& repository, const std::vector<PathChange>& changes,
                       const std::string& scratch_folder,
                       const std::function<void(const PathChange&, const std::string&)>& take) {
  GitTree contents;
  for (const PathChange& change : changes)
    if (!change.blob.empty()) contents.entries.push_back({change.path, change.blob});
  Result<BlobReader> blobs = BlobReader::open(repository, contents, scratch_folder);
  if (!blobs) return blobs.error();
  for (const PathChange& change : changes) {
    if (change.blob.empty()) continue;
    const Result<std::string> content = blobs.value().next({change.path, change.blob});
    if (!content) return content.error();
    take(change, content.value());
  }
  return Done{};
}

Result<std::vector<PathChange>> parse_history(std::string_view log) {
  std::vector<PathChange> changes;
  std::uint64_t commit = 0;
  const auto next = [&] {
    const std::size_t end = std::min(log.find('\0'), log.size());
    const std::string_view token = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    return token;
  };
  while (!log.empty()) {
    std::string_view token = next();
    if (token.starts_with('\n')) token.remove_prefix(1);
    if (token.empty()) continue;
    if (!token.starts_with(':')) {
      ++commit;
      continue;
    }
    token.remove_prefix(1);
    if (commit == 0) return no_history("a change before its commit");
    if (Result<> added = add_change(token, next(), commit, changes); !added) return added.error();
  }
  return changes;
}

}  // namespace reseq::demo
