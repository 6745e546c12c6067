#include "producers/git/history_walk.h"

#include <array>
#include <string_view>
#include <utility>

namespace reseq::git {
namespace {

constexpr std::string_view kNoFile = "000000";
constexpr std::string_view kGitlinkMode = "160000";

Error broken_diff(std::string_view what) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = "git diff-tree: " + std::string(what)};
}

// ":mode mode blob blob status", without the colon.
struct Description {
  std::string_view mode_before;
  std::string_view mode_now;
  std::string_view blob_now;
};

std::optional<Description> parse(std::string_view text) {
  std::array<std::string_view, 5> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t space = text.find(' ');
    if ((space == std::string_view::npos) != (i + 1 == words.size())) return std::nullopt;
    words[i] = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  if (words[0].size() != 6 || words[1].size() != 6 || words[3].empty()) return std::nullopt;
  return Description{.mode_before = words[0], .mode_now = words[1], .blob_now = words[3]};
}

// before \ now   none      gitlink   blob
// none           -         gitlink   blob
// gitlink        gitlink   gitlink   blob
// blob           removed   removed   blob
EntryKind kind_of(const Description& change) {
  const bool file_now = change.mode_now != kNoFile && change.mode_now != kGitlinkMode;
  const bool file_before = change.mode_before != kNoFile && change.mode_before != kGitlinkMode;
  if (file_now) return EntryKind::kBlob;
  return file_before ? EntryKind::kRemoved : EntryKind::kGitlink;
}

}  // namespace

Result<HistoryWalk> HistoryWalk::start(const Repository& repository) {
  Result<ChildProcess> commits =
      ChildProcess::start(repository.command({"rev-list", "--first-parent", "--reverse", repository.commit(), "--"}),
                          ChildProcess::Input::kNothing);
  if (!commits.ok()) return commits.error();
  Result<ChildProcess> changes = ChildProcess::start_reading(
      repository.command({"diff-tree", "--stdin", "--always", "-r", "--root", "--raw", "-z", "--no-renames",
                          "--no-abbrev", "--diff-merges=first-parent", "--ignore-submodules=none", "--no-relative"}),
      commits.value());
  if (!changes.ok()) return changes.error();
  return HistoryWalk(std::move(commits).value(), std::move(changes).value());
}

HistoryWalk::HistoryWalk(ChildProcess commits, ChildProcess changes)
    : commits_(std::make_unique<ChildProcess>(std::move(commits))),
      changes_(std::make_unique<ChildProcess>(std::move(changes))),
      output_(*changes_) {}

Result<std::optional<Entry>> HistoryWalk::next() {
  while (!ended_) {
    Result<std::optional<std::string_view>> piece = output_.until('\0');
    if (!piece.ok()) return piece.error();
    if (!piece.value().has_value()) return end();
    const std::string_view text = *piece.value();
    if (text.starts_with(':')) {
      Result<Entry> read = entry(text.substr(1));
      if (!read.ok()) return read.error();
      return std::optional(std::move(read).value());
    }
    commit_ = text;
    ++ordinal_;
  }
  return std::optional<Entry>();
}

Result<std::optional<Entry>> HistoryWalk::end() {
  // The end of the output is the end of the history only if both programs say so.
  ended_ = true;
  for (ChildProcess* child : {commits_.get(), changes_.get()}) {
    Result<> finished = child->finish();
    if (!finished.ok()) return finished.error();
  }
  return std::optional<Entry>();
}

Result<Entry> HistoryWalk::entry(std::string_view description) {
  const std::optional<Description> change = parse(description);
  if (!change.has_value() || ordinal_ == 0) return broken_diff("an entry that is none");
  Entry result{.kind = kind_of(*change), .commit_ordinal = ordinal_, .path = {}, .blob = std::string(change->blob_now)};
  const Result<std::optional<std::string_view>> path = output_.until('\0');
  if (!path.ok()) return path.error();
  if (!path.value().has_value()) return broken_diff("an entry without a path");
  result.path = *path.value();
  return result;
}

}  // namespace reseq::git
