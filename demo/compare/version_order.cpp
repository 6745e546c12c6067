#include "demo/compare/version_order.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "demo/compare/comparison.h"

namespace reseq::demo {
namespace {

class Judge {
 public:
  Judge(const std::vector<DocumentVersion>& expected, OrderOf order)
      : expected_(expected), order_(order), seen_(expected.size()) {
    comparison_.expected = expected.size();
    for (std::size_t place = 0; place < expected.size(); ++place) places_.emplace(expected[place].name, place);
  }

  void take(const DocumentVersion& got);
  OrderComparison end();

 private:
  void count(std::uint64_t OrderComparison::*kind, const VersionName& name, const char* how) {
    ++(comparison_.*kind);
    if (comparison_.examples.size() < kMaxExamples) comparison_.examples.push_back(text_of(name) + ": " + how);
  }

  const std::vector<DocumentVersion>& expected_;
  OrderOf order_;
  OrderComparison comparison_;
  std::map<VersionName, std::size_t> places_;
  std::vector<bool> seen_;
  // Behind the last place that came, by document; all are under one name where everything has one order.
  std::unordered_map<std::string, std::size_t> next_;
};

void Judge::take(const DocumentVersion& got) {
  const auto found = places_.find(got.name);
  if (found == places_.end()) return count(&OrderComparison::unexpected, got.name, "nobody is to get it");
  const std::size_t place = found->second;
  if (seen_[place]) return count(&OrderComparison::twice, got.name, "came again");
  seen_[place] = true;
  std::size_t& next = next_[order_ == OrderOf::kDocuments ? got.name.document : std::string()];
  const bool late = place < next;
  next = std::max(next, place + 1);
  if (late) count(&OrderComparison::out_of_order, got.name, "came behind a later one");
  const bool same = got.content == expected_[place].content;
  if (!same) count(&OrderComparison::other_content, got.name, "has other bytes than the history");
  if (!late && same) ++comparison_.right;
}

OrderComparison Judge::end() {
  for (std::size_t place = 0; place < seen_.size(); ++place)
    if (!seen_[place]) count(&OrderComparison::missing, expected_[place].name, "missing");
  return std::move(comparison_);
}

}  // namespace

std::string text_of(const VersionName& name) {
  return name.document + ", order " + std::to_string(name.sequence);
}

// FNV-1a over 64 bits, with the length behind.
std::uint64_t content_hash(std::string_view content) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325U, kPrime = 0x100000001b3U;
  std::uint64_t hash = kBasis;
  for (const char byte : content) hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  return (hash ^ content.size()) * kPrime;
}

Result<std::vector<DocumentVersion>> read_versions(const std::string& repository,
                                                   const std::vector<PathChange>& history,
                                                   const std::string& scratch_folder) {
  std::vector<std::uint64_t> contents;
  Result<> read =
      read_contents(repository, history, scratch_folder,
                    [&](const PathChange&, const std::string& content) { contents.push_back(content_hash(content)); });
  if (!read) return read.error();
  std::vector<DocumentVersion> versions;
  auto content = contents.begin();
  for (const PathChange& change : history) {
    DocumentVersion& version = versions.emplace_back();
    version.name = {change.path, change.commit};
    if (!change.blob.empty()) version.content = *content++;
  }
  return versions;
}

OrderComparison compare_order(const std::vector<DocumentVersion>& expected, const std::vector<DocumentVersion>& got,
                              OrderOf order) {
  Judge judge(expected, order);
  for (const DocumentVersion& version : got) judge.take(version);
  return judge.end();
}

}  // namespace reseq::demo
