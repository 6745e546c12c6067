#include "store/timer.h"

#include "base/big_endian.h"

namespace reseq::store {
namespace {

constexpr std::size_t kDeadlineBytes = 8;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

}  // namespace

void append_timer_key(const Timer& timer, std::string& out) {
  append_big_endian(static_cast<std::uint64_t>(timer.deadline.value()) ^ kSign, out);
  out.append(timer.key);
}

std::optional<Timer> parse_timer_key(std::string_view bytes) {
  if (bytes.size() <= kDeadlineBytes) return std::nullopt;
  return Timer{UnixMs(static_cast<std::int64_t>(read_big_endian(bytes) ^ kSign)), bytes.substr(kDeadlineBytes)};
}

}  // namespace reseq::store
