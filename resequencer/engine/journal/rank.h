// Rank: the place of a waiting order in the queue of its partition: what is given up first, then by priority, stuck
// ones behind all others; then by the date from which on it may leave, then in the order in which they began to wait.
// It stands in the dispatch index, where bytes compare as ranks do.
// Thread rule: pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/context.h"
#include "model/journal.h"

namespace reseq::engine {

struct Rank {
  std::uint16_t urgency = 0;  // 0 = it is given up; kFirstRank + the priority, kStuckRank more when it is stuck
  UnixMs process_at;
  std::uint64_t number = 0;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};
inline constexpr std::uint16_t kFirstRank = 1;
inline constexpr std::uint16_t kStuckRank = 256;

// So often its lease was lost while nobody answered that it is tried behind all others.
[[nodiscard]] bool is_stuck(const JournalEntry& entry, const DispatchRules& rules);
// So often it was lost while others were answered that it is given up.
[[nodiscard]] bool is_timed_out(const JournalEntry& entry, const DispatchRules& rules);

[[nodiscard]] Rank rank_of(const JournalEntry& entry, const DispatchRules& rules);
[[nodiscard]] std::string encode_rank(const Rank& rank);
// REQUIRES: encode_rank() made it.
[[nodiscard]] Rank decode_rank(std::string_view bytes);

// A date as an entry of an index, and back. REQUIRES: it is not negative; encode_date() made it.
[[nodiscard]] std::string encode_date(UnixMs date);
[[nodiscard]] UnixMs decode_date(std::string_view bytes);

}  // namespace reseq::engine
