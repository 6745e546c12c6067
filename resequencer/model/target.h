// Targets by number and sets of them. Names become numbers at the edge (codec), so that rows stay small and a rename of
// nothing can ever move a bit.
// Thread rule: plain values; TargetTable is read-only while a batch runs.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/strong.h"

namespace reseq {

inline constexpr std::size_t kMaxTargets = 64;
inline constexpr std::size_t kMaxTargetNameBytes = 100;

// 0 .. 63, assigned once by the target table of the partition, never reused.
using TargetNumber = Strong<struct TargetNumberTag, std::uint8_t>;

class TargetSet {
 public:
  constexpr TargetSet() = default;
  constexpr explicit TargetSet(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] static constexpr TargetSet of(TargetNumber t) { return TargetSet(std::uint64_t{1} << t.value()); }

  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr int size() const { return std::popcount(bits_); }
  [[nodiscard]] constexpr bool contains(TargetNumber t) const { return ((bits_ >> t.value()) & 1U) != 0; }
  [[nodiscard]] constexpr bool covers(TargetSet other) const { return (other.bits_ & ~bits_) == 0; }

  // The lowest target of a set that is not empty.
  [[nodiscard]] constexpr TargetNumber first() const {
    return TargetNumber(static_cast<std::uint8_t>(std::countr_zero(bits_)));
  }
  // for (const TargetNumber target : set): from the lowest to the highest, of the set as it was when the loop began.
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint64_t left) : left_(left) {}
    constexpr TargetNumber operator*() const { return TargetSet(left_).first(); }
    constexpr Iterator& operator++() {
      left_ &= left_ - 1;
      return *this;
    }
    friend constexpr bool operator==(const Iterator&, const Iterator&) = default;

   private:
    std::uint64_t left_;
  };
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(bits_); }
  [[nodiscard]] static constexpr Iterator end() { return Iterator(0); }
  [[nodiscard]] constexpr TargetSet without(TargetSet other) const { return TargetSet(bits_ & ~other.bits_); }

  friend constexpr TargetSet operator|(TargetSet a, TargetSet b) { return TargetSet(a.bits_ | b.bits_); }
  friend constexpr TargetSet operator&(TargetSet a, TargetSet b) { return TargetSet(a.bits_ & b.bits_); }
  constexpr TargetSet& operator|=(TargetSet other) { return *this = *this | other; }
  friend constexpr auto operator<=>(const TargetSet&, const TargetSet&) = default;

 private:
  std::uint64_t bits_ = 0;
};

// Targets that get every version: of each document in its order, or of the partition in that of `requests`. Disjoint.
struct OrderedTargets {
  TargetSet strict;
  TargetSet total;

  [[nodiscard]] constexpr TargetSet all() const { return strict | total; }
  friend constexpr bool operator==(const OrderedTargets&, const OrderedTargets&) = default;
};

// name <-> number of one partition. Index in `names` = number.
// Invariants: at most kMaxTargets names, each unique; a number keeps its name for ever.
class TargetTable {
 public:
  TargetTable() = default;
  explicit TargetTable(std::vector<std::string> names, std::string extensions = {}, OrderedTargets ordered = {})
      : names_(std::move(names)), ordered_(ordered), extensions_(std::move(extensions)) {
    RESEQ_ASSERT(names_.size() <= kMaxTargets, "more targets than the table can number");
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // What they are is given out with their numbers.
  [[nodiscard]] const OrderedTargets& ordered() const { return ordered_; }
  // Of its row: optional ones that this version does not know, to be kept when a name is added.
  [[nodiscard]] const std::string& extensions() const { return extensions_; }
  [[nodiscard]] std::optional<TargetNumber> find(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return TargetNumber(static_cast<std::uint8_t>(i));
    return std::nullopt;
  }
  // REQUIRES: t was given out by this table.
  [[nodiscard]] const std::string& name(TargetNumber t) const {
    RESEQ_ASSERT(t.value() < names_.size(), "a target number without a name");
    return names_[t.value()];
  }
  [[nodiscard]] TargetSet all() const {
    return names_.size() == kMaxTargets ? TargetSet(~std::uint64_t{0})
                                        : TargetSet((std::uint64_t{1} << names_.size()) - 1);
  }

  friend bool operator==(const TargetTable&, const TargetTable&) = default;

 private:
  std::vector<std::string> names_;
  OrderedTargets ordered_;
  std::string extensions_;
};

}  // namespace reseq
