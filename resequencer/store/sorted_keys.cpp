#include "store/sorted_keys.h"

#include <algorithm>
#include <utility>

namespace reseq::store {

void SortedKeys::clear() {
  fresh_ = Run();
  runs_.clear();
}

void SortedKeys::settle() const {
  if (fresh_.empty()) return;
  std::sort(fresh_.begin(), fresh_.end());
  runs_.push_back(std::exchange(fresh_, {}));
  while (runs_.size() > 1 && runs_[runs_.size() - 2].size() <= 2 * runs_.back().size()) merge_last_two();
}

void SortedKeys::merge_last_two() const {
  const Run last = std::move(runs_.back());
  runs_.pop_back();
  Run& longer = runs_.back();
  const auto middle = static_cast<std::ptrdiff_t>(longer.size());
  longer.insert(longer.end(), last.begin(), last.end());
  std::inplace_merge(longer.begin(), longer.begin() + middle, longer.end());
}

SortedKeys::Walk SortedKeys::behind(std::string_view cursor) const {
  settle();
  Walk walk;
  for (const Run& run : runs_) {
    const auto first = std::upper_bound(run.begin(), run.end(), cursor);
    if (first != run.end()) walk.parts_.push_back({first, run.end()});
  }
  walk.choose();
  return walk;
}

void SortedKeys::Walk::next() {
  ++parts_[least_].next;
  choose();
}

void SortedKeys::Walk::choose() {
  least_ = kNone;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].next == parts_[i].end) continue;
    if (least_ == kNone || *parts_[i].next < *parts_[least_].next) least_ = i;
  }
}

}  // namespace reseq::store
