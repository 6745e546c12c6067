#include "codec/sequence_text.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "base/assert.h"
#include "codec/decimal.h"
#include "codec/timestamp_text.h"

namespace reseq::codec {
namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
constexpr std::size_t kLsnDigitsMax = 8;
constexpr std::array<std::string_view, 4> kKindNames = {"u64", "timestamp", "lsn", "text"};

std::uint64_t number_of(const Sequence& sequence) {
  const std::string_view bytes = sequence.bytes();
  RESEQ_ASSERT(bytes.size() == kNumberBytes, "a sequence of another kind");
  std::uint64_t number = 0;
  for (const char c : bytes) number = (number << 8) | static_cast<unsigned char>(c);
  return number;
}

std::optional<Sequence> parse_instant(std::string_view text) {
  std::int64_t nanoseconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, nanoseconds);
  if (error != std::errc() || stop != end) {
    const auto instant = parse_timestamp(text);
    if (!instant) return std::nullopt;
    nanoseconds = *instant;
  }
  return Sequence::of_number(static_cast<std::uint64_t>(nanoseconds) ^ kSignBit);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (text.size() > kLsnDigitsMax) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<Sequence> parse_lsn(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto high = parse_hex(text.substr(0, slash));
  const auto low = parse_hex(text.substr(slash + 1));
  if (!high || !low) return std::nullopt;
  return Sequence::of_number(*high << 32 | *low);
}

void append_hex(std::uint64_t half, std::string& out) {
  char digits[kLsnDigitsMax];
  const auto result = std::to_chars(digits, digits + sizeof digits, half, 16);
  for (const char* digit = digits; digit != result.ptr; ++digit)
    out.push_back(*digit >= 'a' ? static_cast<char>(*digit - 'a' + 'A') : *digit);
}

// As PostgreSQL writes it: upper case, no leading zeros.
std::string format_lsn(std::uint64_t number) {
  std::string out;
  append_hex(number >> 32, out);
  out.push_back('/');
  append_hex(number & 0xFFFFFFFFU, out);
  return out;
}

}  // namespace

std::optional<Sequence> parse_sequence(SequenceKind kind, std::string_view text) {
  switch (kind) {
    case SequenceKind::kU64: {
      const auto number = parse_decimal<std::uint64_t>(text);
      return number ? std::optional(Sequence::of_number(*number)) : std::nullopt;
    }
    case SequenceKind::kTimestamp:
      return parse_instant(text);
    case SequenceKind::kLsn:
      return parse_lsn(text);
    case SequenceKind::kText:
      if (text.empty() || text.size() > Sequence::kMaxBytes) return std::nullopt;
      return Sequence(text);
  }
  return std::nullopt;
}

std::string format_sequence(SequenceKind kind, const Sequence& sequence) {
  switch (kind) {
    case SequenceKind::kU64:
      return std::to_string(number_of(sequence));
    case SequenceKind::kTimestamp:
      return format_timestamp(static_cast<std::int64_t>(number_of(sequence) ^ kSignBit));
    case SequenceKind::kLsn:
      return format_lsn(number_of(sequence));
    case SequenceKind::kText:
      break;
  }
  return std::string(sequence.bytes());
}

std::optional<SequenceKind> parse_sequence_kind(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i)
    if (kKindNames[i] == name) return static_cast<SequenceKind>(i);
  return std::nullopt;
}

std::string_view name_of(SequenceKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

}  // namespace reseq::codec
