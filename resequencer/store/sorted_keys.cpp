#include "store/sorted_keys.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace reseq::store {

void SortedKeys::clear() {
  fresh_ = Run();
  readers_ = 0;
  runs_.clear();
}

void SortedKeys::settle() const {
  readers_ = 0;
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
  if (++readers_ > kReadersUnsorted && walks_ == 0) settle();
  Walk walk(walks_);
  for (const Run& run : runs_) {
    const auto first = std::upper_bound(run.begin(), run.end(), cursor);
    if (first != run.end()) walk.parts_.push_back({first, run.end()});
  }
  walk.fresh_ = &fresh_;
  walk.look_through(cursor);
  walk.choose();
  return walk;
}

// One pass over keys that lie in memory as they were added, each compared with one or two that are at hand.
void SortedKeys::Walk::look_through(std::string_view cursor) {
  more_ = false;
  few_.clear();
  for (const std::string_view key : *fresh_) {
    if (key <= cursor) continue;
    if (few_.size() == few_max_) {
      more_ = true;
      if (key > few_.front()) continue;
      std::pop_heap(few_.begin(), few_.end());
      few_.pop_back();
    }
    few_.push_back(key);
    std::push_heap(few_.begin(), few_.end());
  }
  std::sort(few_.begin(), few_.end(), std::greater<>());
  few_max_ *= 2;
}

void SortedKeys::Walk::next() {
  const std::string_view passed = key_;
  for (Part& part : parts_) {
    if (part.next == part.end || part.next->data() != passed.data()) continue;
    ++part.next;
    return choose();
  }
  few_.pop_back();
  if (few_.empty() && more_) look_through(passed);
  choose();
}

void SortedKeys::Walk::choose() {
  key_ = few_.empty() ? std::string_view() : few_.back();
  for (const Part& part : parts_)
    if (part.next != part.end && (key_.empty() || *part.next < key_)) key_ = *part.next;
}

}  // namespace reseq::store
