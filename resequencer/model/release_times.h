// ReleaseTimes: how long documents took from their dispatch to their last release, lately.
// Thread rule: plain values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

#include "model/ids.h"

namespace reseq {

class ReleaseTimes {
 public:
  // Of times below 2^place ms, and not below half of it; the last place has the longer ones, too.
  using Counts = std::array<std::uint16_t, 24>;

  void note(Milliseconds took) {
    const auto ms = static_cast<std::uint64_t>(std::max(took.value(), std::int64_t{0}));
    ++counts_[std::min<std::size_t>(std::bit_width(ms), counts_.size() - 1)];
    if (sum() > kSumMax)
      for (std::uint16_t& count : counts_) count /= 2;
  }
  // No more than one of a hundred took longer; 0: nothing is known.
  [[nodiscard]] Milliseconds p99() const {
    const std::uint32_t all = sum();
    if (all == 0) return Milliseconds(0);
    std::size_t place = 0;
    for (std::uint32_t below = counts_[0]; below * 100 < all * 99; below += counts_[place]) ++place;
    return Milliseconds(std::int64_t{1} << place);
  }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::uint16_t& at(std::size_t place) { return counts_[place]; }

  friend bool operator==(const ReleaseTimes&, const ReleaseTimes&) = default;

 private:
  static constexpr std::uint32_t kSumMax = 2'000;  // then each counts for half
  [[nodiscard]] std::uint32_t sum() const { return std::accumulate(counts_.begin(), counts_.end(), 0U); }

  Counts counts_{};
};

}  // namespace reseq
