// Summary: what the rows of a state add up to. The store adds and takes away while rows change, the meta row says the
// sums, and a restore compares them with what it read.
// Thread rule: plain values.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "model/ids.h"

namespace reseq {

// What a row can count as. Which it does is a function of that row alone (codec/row_kinds.h).
enum class Count : std::uint8_t { kLiveRows, kWatermarks };
inline constexpr std::size_t kCounts = 2;

// What one row counts as: any number of them.
class CountSet {
 public:
  constexpr CountSet() = default;
  [[nodiscard]] static constexpr CountSet of(Count count) { return CountSet(1U << static_cast<unsigned>(count)); }
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
  [[nodiscard]] std::uint64_t operator[](Count count) const { return rows_[static_cast<std::size_t>(count)]; }
  std::uint64_t& operator[](Count count) { return rows_[static_cast<std::size_t>(count)]; }
  void add(CountSet row) {
    row.each([this](Count count) { ++(*this)[count]; });
  }
  void subtract(CountSet row) {
    row.each([this](Count count) { --(*this)[count]; });
  }
  friend bool operator==(const Counts&, const Counts&) = default;

 private:
  std::array<std::uint64_t, kCounts> rows_{};
};

struct Summary {
  Digest digest;
  Counts counts;
  friend bool operator==(const Summary&, const Summary&) = default;
};

}  // namespace reseq
