// SortedKeys: the keys of the memory table in order, for the few readers that need one. Adding costs a push. A reader
// looks through the keys that came since for the least few, once more for the next few, and so on; after some readers
// those keys are sorted: they become a run, and runs of similar length are merged, so that there are few and every key
// is moved O(log n) times. So neither a page of a list now and then nor many pages in turn cost more than needed.
//
// Invariants: views, whose bytes outlive clear(); each key is added once, and has a byte at least.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace reseq::store {

class SortedKeys {
 public:
  void add(std::string_view key) { fresh_.push_back(key); }
  void clear();

  // A walk that is under way: what it stands on is not sorted meanwhile.
  class Use {
   public:
    explicit Use(int& walks) : walks_(&walks) { ++*walks_; }
    Use(Use&& other) noexcept : walks_(std::exchange(other.walks_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (walks_ != nullptr) --*walks_;
    }

   private:
    int* walks_;
  };

  // Walks through the keys behind `cursor`, in order. Others may begin meanwhile. REQUIRES: nothing is added while it
  // is used.
  class Walk {
   public:
    [[nodiscard]] bool valid() const { return !key_.empty(); }
    [[nodiscard]] std::string_view key() const { return key_; }
    void next();

   private:
    friend class SortedKeys;
    explicit Walk(int& walks) : use_(walks) {}
    struct Part {
      std::vector<std::string_view>::const_iterator next, end;
    };
    void choose();
    void look_through(std::string_view cursor);
    static constexpr std::size_t kFew = 256;  // more than a page of a list
    Use use_;
    std::vector<Part> parts_;
    const std::vector<std::string_view>* fresh_ = nullptr;
    std::vector<std::string_view> few_;  // the least fresh ones behind the cursor, the next one last
    std::size_t few_max_ = kFew;
    bool more_ = false;     // fresh ones behind those
    std::string_view key_;  // the least of all; empty: none is left
  };
  [[nodiscard]] Walk behind(std::string_view cursor) const;

 private:
  using Run = std::vector<std::string_view>;
  // To look through costs about a sixteenth of sorting: for more readers than that sorting is cheaper.
  static constexpr int kReadersUnsorted = 16;
  void settle() const;
  void merge_last_two() const;

  mutable std::vector<std::string_view> fresh_;
  mutable int readers_ = 0;        // since fresh_ was sorted
  mutable int walks_ = 0;          // under way
  mutable std::vector<Run> runs_;  // each sorted; each more than twice as long as the next
};

}  // namespace reseq::store
