// Histogram: how often values of about which size were seen. Buckets end at powers of two, so that an observation is a
// count of bits and an addition.
// Thread rule: plain value.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace reseq::metrics {

class Histogram {
 public:
  // The last bucket but one ends at 2^26: 18 hours in milliseconds.
  static constexpr std::size_t kBuckets = 28;

  Histogram() = default;
  // As it was written down.
  Histogram(const std::array<std::uint64_t, kBuckets>& counts, std::uint64_t sum) : counts_(counts), sum_(sum) {}

  // What is below 0 counts as 0: clocks of two hosts differ.
  void observe(std::int64_t value) {
    const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
    const std::size_t bits = whole == 0 ? 0 : static_cast<std::size_t>(std::bit_width(whole - 1));
    ++counts_[std::min(bits, kBuckets - 1)];
    sum_ += whole;
  }
  Histogram& operator+=(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
    sum_ += other.sum_;
    return *this;
  }

  // Observations v with upper(i - 1) < v <= upper(i); the last bucket has no upper end.
  [[nodiscard]] std::uint64_t in_bucket(std::size_t i) const { return counts_[i]; }
  [[nodiscard]] static constexpr std::uint64_t upper(std::size_t i) { return std::uint64_t{1} << i; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const std::uint64_t one : counts_) all += one;
    return all;
  }

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t sum_ = 0;
};

}  // namespace reseq::metrics
