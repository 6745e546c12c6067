// Pieces: the input of a fuzzer taken apart into numbers and texts. Every input has a reading: what is missing at the
// end is 0 or empty.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace reseq::fuzz {

class Pieces {
 public:
  explicit Pieces(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::size_t below(std::size_t limit) { return byte() % limit; }
  bool flag() { return (byte() & 1U) != 0; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }

  // A length below kLong and so many bytes; kLong and above: one byte many times, so that a short input reaches every
  // limit of a length.
  std::string text() {
    const std::size_t length = byte();
    if (length >= kLong) return std::string((length - kLong + 1) * kManyTimes, static_cast<char>(byte()));
    std::string value(rest_.substr(0, length));
    rest_.remove_prefix(std::min(length, rest_.size()));
    return value;
  }

  [[nodiscard]] std::string_view rest() const { return rest_; }

  // What text() reads as `value`. REQUIRES: value is shorter than kLong.
  static std::string of(std::string_view value) {
    return std::string(1, static_cast<char>(value.size())) + std::string(value);
  }

 private:
  static constexpr std::size_t kLong = 224;
  static constexpr std::size_t kManyTimes = 148;

  std::string_view rest_;
};

}  // namespace reseq::fuzz
