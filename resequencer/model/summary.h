// Summary: what the rows of a state add up to. The store adds and takes away while rows change, the meta row says the
// sums, and a restore compares them with what it read.
// Thread rule: plain values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/journal.h"

namespace reseq {

// What a row can count as. Which it does is a function of that row alone (codec/row_kinds.h). Their numbers stand in
// meta rows: they are never used for something else.
enum class Count : std::uint8_t {
  kLiveRows,
  kWatermarks,
  kHeldRecords,  // inputs that wait in the state as they came
  kHeldPieces,   // rows with more of their bytes
  kHeldBytes,    // values of both, in bytes
  kTasks,
  kWaiting,      // documents of which an order is to be dispatched
  kProcessing,   // documents of which an order that was dispatched is under way, with a lease
  kPlaces,       // in lanes of ordered targets
  kQueued,       // of these, behind as many of the document as may be under way
  kResultBytes,  // of kHeldBytes, those of results that wait in lanes
  kCount,
};
inline constexpr std::size_t kCounts = static_cast<std::size_t>(Count::kCount);
// The first that is 0 in a state of documents alone, where nothing is said of it.
inline constexpr std::size_t kFirstRareCount = 2;

// What one row counts as: any number of them.
class CountSet {
 public:
  constexpr CountSet() = default;
  [[nodiscard]] static constexpr CountSet of(Count count) { return CountSet(1U << static_cast<unsigned>(count)); }
  friend constexpr CountSet operator|(CountSet a, CountSet b) { return CountSet(a.bits_ | b.bits_); }
  [[nodiscard]] constexpr bool has_any_of(CountSet other) const { return (bits_ & other.bits_) != 0; }
  template <typename Visit>
  void each(const Visit& visit) const {
    for (std::uint32_t left = bits_; left != 0; left &= left - 1) visit(static_cast<Count>(std::countr_zero(left)));
  }

 private:
  explicit constexpr CountSet(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

class Counts {
 public:
  [[nodiscard]] std::uint64_t operator[](Count count) const { return sums_[static_cast<std::size_t>(count)]; }
  std::uint64_t& operator[](Count count) { return sums_[static_cast<std::size_t>(count)]; }
  void add(CountSet row) {
    row.each([this](Count count) { ++(*this)[count]; });
  }
  void subtract(CountSet row) {
    row.each([this](Count count) { --(*this)[count]; });
  }
  // Rows, whatever they count as, but for those that a state has one of.
  [[nodiscard]] std::uint64_t rows() const {
    std::uint64_t rows = 0;
    for (const Count count :
         {Count::kLiveRows, Count::kWatermarks, Count::kHeldRecords, Count::kHeldPieces, Count::kTasks, Count::kPlaces})
      rows += (*this)[count];
    return rows;
  }
  // Something waits: a count from kFirstRareCount on is not 0.
  [[nodiscard]] bool any_rare() const {
    bool any = false;
    each_rare([&](Count, std::uint64_t) { any = true; });
    return any;
  }
  // Documents have orders in the journal: their requests are read again.
  [[nodiscard]] bool any_journaled() const { return (*this)[Count::kWaiting] != 0 || (*this)[Count::kProcessing] != 0; }
  // Calls visit(count, sum) for those that are not 0, from kFirstRareCount on.
  template <typename Visit>
  void each_rare(const Visit& visit) const {
    for (std::size_t i = kFirstRareCount; i < kCounts; ++i)
      if (sums_[i] != 0) visit(static_cast<Count>(i), sums_[i]);
  }
  friend bool operator==(const Counts&, const Counts&) = default;

 private:
  std::array<std::uint64_t, kCounts> sums_{};
};

struct Summary {
  Digest digest;
  Counts counts;
  std::vector<PriorityCount> priorities;  // rising; none with nothing
  void add(const DocumentPriorities& document) { change(document, 1); }
  void subtract(const DocumentPriorities& document) { change(document, UINT64_MAX); }
  friend bool operator==(const Summary&, const Summary&) = default;

 private:
  // Not inline: nearly no row has any.
  [[gnu::noinline]] void change(const DocumentPriorities& document, std::uint64_t by) {
    if (document.waiting) change(*document.waiting, &PriorityCount::waiting, by);
    if (document.processing) change(*document.processing, &PriorityCount::processing, by);
  }
  void change(std::uint8_t priority, std::uint64_t PriorityCount::*number, std::uint64_t by) {
    const auto is_before = [](const PriorityCount& one, std::uint8_t other) { return one.priority < other; };
    auto at = std::lower_bound(priorities.begin(), priorities.end(), priority, is_before);
    if (at == priorities.end() || at->priority != priority) at = priorities.insert(at, {priority, 0, 0});
    (*at).*number += by;
    if (at->waiting == 0 && at->processing == 0) priorities.erase(at);
  }
};

}  // namespace reseq
