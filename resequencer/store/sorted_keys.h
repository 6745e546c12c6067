// SortedKeys: the keys of the memory table in order, for the few readers that need one. Adding costs a push; sorting
// waits until somebody reads, and then only new keys are sorted: they become a run, and runs of similar length are
// merged, so that there are few and every key is moved O(log n) times.
//
// Invariants: views, whose bytes outlive clear(); each key is added once. Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace reseq::store {

class SortedKeys {
 public:
  void add(std::string_view key) { fresh_.push_back(key); }
  void clear();

  // Walks through the keys behind `cursor`, in order. REQUIRES: nothing is added while it is used.
  class Walk {
   public:
    [[nodiscard]] bool valid() const { return least_ != kNone; }
    [[nodiscard]] std::string_view key() const { return *parts_[least_].next; }
    void next();

   private:
    friend class SortedKeys;
    struct Part {
      std::vector<std::string_view>::const_iterator next, end;
    };
    void choose();
    static constexpr std::size_t kNone = SIZE_MAX;
    std::vector<Part> parts_;
    std::size_t least_ = kNone;
  };
  [[nodiscard]] Walk behind(std::string_view cursor) const;

 private:
  using Run = std::vector<std::string_view>;
  void settle() const;
  void merge_last_two() const;

  mutable std::vector<std::string_view> fresh_;
  mutable std::vector<Run> runs_;  // each sorted; each more than twice as long as the next
};

}  // namespace reseq::store
