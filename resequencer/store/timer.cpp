#include "store/timer.h"

namespace reseq::store {
namespace {

constexpr std::size_t kDeadlineBytes = 8;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

}  // namespace

void append_timer_key(const Timer& timer, std::string& out) {
  const std::uint64_t bits = static_cast<std::uint64_t>(timer.deadline.value()) ^ kSign;
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(bits >> shift));
  out.append(timer.key);
}

std::optional<Timer> parse_timer_key(std::string_view bytes) {
  if (bytes.size() <= kDeadlineBytes) return std::nullopt;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kDeadlineBytes; ++i) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return Timer{UnixMs(static_cast<std::int64_t>(bits ^ kSign)), bytes.substr(kDeadlineBytes)};
}

}  // namespace reseq::store
