// ByteReader: reads what ByteWriter wrote, from bytes that nobody vouches for. A read beyond the end, a varint that is
// longer than need be or a number out of its range makes the reader fail; from then on every read gives zeros, so that
// a decoder checks once, at its end.
//
// Invariant: the first failure stays.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "codec/rows.h"
#include "model/ids.h"

namespace reseq::codec {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool ok() const { return !error_; }
  [[nodiscard]] std::optional<RowError> error() const { return error_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  void fail(RowError error) {
    if (!error_) error_ = error;
    rest_ = {};
  }
  // Fails with kInvalid unless the condition holds.
  void require(bool condition) {
    if (!condition) fail(RowError::kInvalid);
  }

  std::uint8_t u8() {
    if (rest_.empty()) {
      fail(RowError::kTruncated);
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  std::uint64_t varint() {
    if (!rest_.empty() && static_cast<std::uint8_t>(rest_.front()) < 0x80) return u8();  // most of them
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift == 63 && byte > 1) break;  // beyond 64 bits
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) != 0) continue;
      if (byte == 0 && shift != 0) break;  // a shorter one says the same
      return value;
    }
    fail(RowError::kInvalid);
    return 0;
  }

  // A varint that must not be above `max`.
  std::uint64_t varint(std::uint64_t max) {
    const std::uint64_t value = varint();
    require(value <= max);
    return ok() ? value : 0;
  }

  std::uint32_t varint32() { return static_cast<std::uint32_t>(varint(UINT32_MAX)); }

  // Number of elements that take at least one byte each: bounded by what is left, so it is safe to reserve.
  std::size_t count() {
    const std::uint64_t value = varint();
    if (value > rest_.size()) fail(RowError::kTruncated);
    return ok() ? static_cast<std::size_t>(value) : 0;
  }

  std::uint64_t fixed64() {
    const std::string_view bytes = raw(8);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    return value;
  }

  // Empty after a failure.
  std::string_view raw(std::size_t size) {
    if (size > rest_.size()) {
      fail(RowError::kTruncated);
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view bytes() { return raw(count()); }

  Offset offset() {
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return Offset(static_cast<std::int64_t>(varint(kMax)) - 1);
  }

  Role role() {
    const std::uint8_t value = u8();
    require(value <= static_cast<std::uint8_t>(Role::kAdminReplies));
    return ok() ? static_cast<Role>(value) : Role::kRequests;
  }

  UnixMs time() { return UnixMs(static_cast<std::int64_t>(varint())); }

 private:
  std::string_view rest_;
  std::optional<RowError> error_;
};

}  // namespace reseq::codec
