#include "demo/compare/comparison.h"

#include <string_view>
#include <unordered_set>

namespace reseq::demo {
namespace {

void note(Comparison& comparison, std::string_view path, const char* how) {
  if (comparison.examples.size() < kMaxExamples) comparison.examples.push_back(std::string(path) + ": " + how);
}

Result<> check_entry(SinkView& sink, const TreeEntry& entry, const std::string& content, Comparison& comparison) {
  Result<Held> held = sink.find(entry.path);
  if (!held) return held.error();
  ++comparison.expected;
  if (!held.value().payload) {
    ++comparison.missing;
    comparison.missing_paths.push_back(entry.path);
    note(comparison, entry.path, held.value().known ? "deleted, but the commit has it" : "missing");
  } else if (*held.value().payload != content) {
    ++comparison.differs;
    comparison.differing_paths.push_back(entry.path);
    note(comparison, entry.path, "other bytes than the commit has");
  } else {
    ++comparison.equal;
  }
  return Done{};
}

Result<> find_resurrected(SinkView& sink, const GitTree& tree, Comparison& comparison) {
  std::unordered_set<std::string_view> paths;
  for (const TreeEntry& entry : tree.entries) paths.insert(entry.path);
  Result<std::vector<std::string>> live = sink.live();
  if (!live) return live.error();
  for (const std::string& id : live.value()) {
    if (paths.contains(id)) continue;
    ++comparison.resurrected;
    note(comparison, id, "in the sink, but the commit does not have it");
  }
  return Done{};
}

}  // namespace

Result<Comparison> compare(SinkView& sink, const std::string& repository, const GitTree& tree,
                           const std::string& scratch_folder) {
  Result<BlobReader> blobs = BlobReader::open(repository, tree, scratch_folder);
  if (!blobs) return blobs.error();
  Comparison comparison;
  for (const TreeEntry& entry : tree.entries) {
    Result<std::string> content = blobs.value().next(entry);
    if (!content) return content.error();
    if (Result<> checked = check_entry(sink, entry, content.value(), comparison); !checked) return checked.error();
  }
  if (Result<> searched = find_resurrected(sink, tree, comparison); !searched) return searched.error();
  return comparison;
}

}  // namespace reseq::demo
