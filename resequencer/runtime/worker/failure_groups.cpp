#include "runtime/worker/failure_groups.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace reseq::runtime {

namespace {

void add_example(FailureGroup& group, std::string_view id) {
  std::vector<std::string>& ids = group.examples;
  if (ids.size() >= FailureGroups::kExamplesMax || id.size() > FailureGroups::kIdBytes) return;
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.emplace_back(id);
}

std::string_view text_of(const Failure& failure) {
  return cut_at_character(failure.error, FailureGroups::kTextBytes);
}

// Another target of the document failed of the same before it.
bool is_repeated(const Row& row, const Failure& failure) {
  for (const Failure& one : row.failures) {
    if (&one == &failure) return false;
    if (one.for_good == failure.for_good && text_of(one) == text_of(failure) && !row.holding(one).empty()) return true;
  }
  return false;
}

}  // namespace

// The smallest group makes place for a larger one, and one of a single document for another such: errors that each have
// a text of their own come and go, and do not keep out what many documents failed of.
FailureGroup* FailureGroups::group_of(std::string_view error, std::uint64_t documents) {
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const FailureGroup& one) { return one.error == error; });
  if (found != groups_.end()) return &*found;
  if (groups_.size() >= kGroupsMax) {
    const auto smallest = std::min_element(groups_.begin(), groups_.end(), [](const auto& a, const auto& b) {
      return a.documents.all() < b.documents.all();
    });
    if (smallest->documents.all() > std::max<std::uint64_t>(documents, 2) - 1) return nullptr;
    others_ += smallest->documents;
    groups_.erase(smallest);
  }
  groups_.push_back({std::string(error), {}, {}, {}});
  return &groups_.back();
}

void FailureGroups::note(std::string_view id, const Row& row) {
  FailureCounts document;
  for (const Failure& failure : row.failures) {
    if (row.holding(failure).empty()) continue;
    const FailureCounts one = failure.for_good ? FailureCounts{1, 0} : FailureCounts{0, 1};
    (failure.for_good ? document.failed : document.retrying) = 1;
    if (is_repeated(row, failure)) continue;
    FailureGroup* group = group_of(text_of(failure), 1);
    if (group == nullptr) {
      others_ += one;
      continue;
    }
    group->documents += one;
    group->last = std::max(group->last, failure.at);
    add_example(*group, id);
  }
  documents_ += document;
}

void FailureGroups::add(const FailureGroups& other) {
  documents_ += other.documents_;
  others_ += other.others_;
  for (const FailureGroup& more : other.groups_) {
    FailureGroup* group = group_of(more.error, more.documents.all());
    if (group == nullptr) {
      others_ += more.documents;
      continue;
    }
    group->documents += more.documents;
    group->last = std::max(group->last, more.last);
    for (const std::string& id : more.examples) add_example(*group, id);
  }
}

std::vector<FailureGroup> FailureGroups::largest(std::size_t groups_max) const {
  std::vector<FailureGroup> all = groups_;
  std::stable_sort(all.begin(), all.end(), [](const FailureGroup& a, const FailureGroup& b) {
    return a.documents.all() != b.documents.all() ? a.documents.all() > b.documents.all() : a.error < b.error;
  });
  all.resize(std::min(all.size(), groups_max));
  return all;
}

}  // namespace reseq::runtime
