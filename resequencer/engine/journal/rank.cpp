#include "engine/journal/rank.h"

#include <algorithm>

#include "base/assert.h"
#include "base/big_endian.h"

namespace reseq::engine {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

}  // namespace

bool is_stuck(const JournalEntry& entry, const DispatchRules& rules) {
  return entry.losses > rules.timeouts_max;
}

bool is_timed_out(const JournalEntry& entry, const DispatchRules& rules) {
  return entry.timeouts > rules.timeouts_max;
}

Rank rank_of(const JournalEntry& entry, const DispatchRules& rules) {
  const unsigned stuck = is_stuck(entry, rules) ? kStuckRank : 0U;
  // Given up it goes whatever it wished, and though the clock has stepped back to before it came.
  if (is_timed_out(entry, rules)) return {0, entry.retry_at, entry.number};
  const UnixMs due = std::max({entry.urgency.process_at, entry.urgency.consolidate_until, entry.retry_at});
  return {static_cast<std::uint16_t>(kFirstRank + stuck + entry.urgency.priority), due, entry.number};
}

std::string encode_rank(const Rank& rank) {
  std::string bytes;
  bytes.reserve(3 * kNumberBytes);
  append_big_endian(std::uint64_t{rank.urgency}, bytes);
  append_big_endian(static_cast<std::uint64_t>(rank.process_at.value()), bytes);
  append_big_endian(rank.number, bytes);
  return bytes;
}

Rank decode_rank(std::string_view bytes) {
  RESEQ_ASSERT(bytes.size() == 3 * kNumberBytes, "an entry of the dispatch index that is no rank");
  return {static_cast<std::uint16_t>(read_big_endian(bytes)), decode_date(bytes.substr(kNumberBytes)),
          read_big_endian(bytes.substr(2 * kNumberBytes))};
}

std::string encode_date(UnixMs date) {
  std::string bytes;
  append_big_endian(static_cast<std::uint64_t>(date.value()), bytes);
  return bytes;
}

UnixMs decode_date(std::string_view bytes) {
  return UnixMs(static_cast<std::int64_t>(read_big_endian(bytes)));
}

}  // namespace reseq::engine
