// Strong types for every number that has a meaning: places in Kafka's logs, times, versions, hashes.
// Thread rule: plain values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "base/strong.h"

namespace reseq {

using Partition = Strong<struct PartitionTag, std::int32_t>;

// Offset of a record, or the next one to read. Control records (transaction markers) occupy offsets too.
using Offset = Strong<struct OffsetTag, std::int64_t>;
inline constexpr Offset kNoOffset{-1};

// Milliseconds since 1970, wall clock. 0 = none.
using UnixMs = Strong<struct UnixMsTag, std::int64_t>;

// A duration in milliseconds.
using Milliseconds = Strong<struct MillisecondsTag, std::int64_t>;

// The stamp of a release (matcher time): 0 < v < 2^63, strictly rising per partition; 0 = none.
using Version = Strong<struct VersionTag, std::uint64_t>;
inline constexpr std::uint64_t kVersionLimit = std::uint64_t{1} << 63;

// Its layout: milliseconds since 1970 above, a counter below.
inline constexpr unsigned kVersionCounterBits = 16;
// The first version of a millisecond; 0 before 1970, at most kVersionLimit (reached in the year 6429), so that sums of
// two cannot wrap.
[[nodiscard]] constexpr Version version_at(UnixMs time) {
  if (time.value() <= 0) return Version();
  const auto ms = static_cast<std::uint64_t>(time.value());
  return Version(ms >= (kVersionLimit >> kVersionCounterBits) ? kVersionLimit : ms << kVersionCounterBits);
}
[[nodiscard]] constexpr UnixMs time_of(Version version) {
  return UnixMs(static_cast<std::int64_t>(version.value() >> kVersionCounterBits));
}

// 64 bits over op, null-ness and payload of a request: tells two edits under one sequence apart (R5).
using PayloadHash = Strong<struct PayloadHashTag, std::uint64_t>;

// 128 bits of a keyed hash: of a row, of all but the meta row (their sum mod 2^128), of what a request asks for.
struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend constexpr auto operator<=>(const Digest&, const Digest&) = default;
};

// The random key of the hash of ids and rows, drawn once when a partition is born, pinned in its identity.
struct HashKey {
  std::array<std::uint8_t, 16> bytes{};
  friend constexpr auto operator<=>(const HashKey&, const HashKey&) = default;
};

// What a topic is to this application. Numbers are written into the state: never renumber.
enum class Role : std::uint8_t {
  kRequests = 0,
  kCommands = 1,
  kControl = 2,
  kWork = 3,
  kOutput = 4,
  kDeadLetter = 5,
  kEvents = 6,
  kChangelog = 7,
  kAdminRequests = 8,
  kAdminReplies = 9,
};

}  // namespace reseq
