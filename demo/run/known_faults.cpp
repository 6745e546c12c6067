#include "demo/run/known_faults.h"

#include <array>
#include <utility>

#include "demo/compare/history.h"
#include "demo/pipeline/faults.h"

namespace reseq::demo {
namespace {

constexpr std::array kTargets{Settings::kSearch, Settings::kCatalogue};

}  // namespace

Result<KnownFaults> KnownFaults::read(const Settings& settings, const std::string& commit) {
  const Result<std::vector<PathChange>> history = read_history(settings.repository, commit);
  if (!history) return history.error();
  KnownFaults faults(settings.seed);
  faults.changes_ = history.value().size();
  for (const PathChange& change : history.value()) faults.last_change_[change.path] = change.commit;
  Result<> read = read_contents(
      settings.repository, history.value(), settings.work_folder,
      [&](const PathChange& change, const std::string& content) { faults.note(change.path, change.commit, content); });
  if (!read) return read.error();
  return faults;
}

void KnownFaults::note(const std::string& path, std::uint64_t commit, const std::string& content) {
  for (const char* target : kTargets)
    if (demo::unreadable(target, path, content)) unreadable_.emplace(target, path, commit);
  if (!unreadable_.contains({Settings::kCatalogue, path, commit})) return;
  if (broken_commits_.empty() || broken_commits_.back() != commit) broken_commits_.push_back(commit);
}

std::set<std::string> KnownFaults::broken_files(std::uint64_t commit) const {
  std::set<std::string> files;
  for (const auto& [target, path, at] : unreadable_)
    if (at == commit && target == Settings::kCatalogue) files.insert(path);
  return files;
}

bool KnownFaults::unreadable(const TargetDocument& document, std::uint64_t sequence) const {
  return unreadable_.contains({document.target, document.id, sequence});
}

bool KnownFaults::throws(const TargetDocument& document) const {
  return demo::throws(Seed(seed_), document.target, document.id);
}

std::set<TargetDocument> KnownFaults::failing(const GitTree& tree) const {
  std::set<TargetDocument> failing;
  for (const TreeEntry& entry : tree.entries)
    for (const char* target : kTargets) {
      TargetDocument document{target, entry.path};
      const auto last = last_change_.find(entry.path);
      if (last != last_change_.end() && fails(document, last->second)) failing.insert(std::move(document));
    }
  return failing;
}

}  // namespace reseq::demo
