// The records of one key in a topic, in pieces, the newest first: nothing indexes a topic, and a long one cannot be
// read from its beginning while somebody waits.
// Thread rule: one thread; it opens clients of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "admin/document_json.h"
#include "base/result.h"
#include "runtime/application/application.h"
#include "runtime/application/log_reading.h"

namespace reseq::runtime {

// How long somebody waits for what is read of the two topics; to connect and to ask instances comes on top, and the
// whole is to take about a second.
inline constexpr Milliseconds kEventsTime{400};
inline constexpr Milliseconds kLettersTime{200};
// So many offsets are read whatever the time: events are small, letters have the payloads of their inputs.
inline constexpr std::int64_t kEventsAnyway = 1'000;
inline constexpr std::int64_t kLettersAnyway = 100;

// The oldest offsets of a partition, which were not read.
struct Unread {
  Partition partition;
  std::int64_t offsets = 0;  // 0: all was read, or as much as was wanted
  std::int64_t of = 0;       // that the partition holds
  UnixMs before;             // when the oldest that was read was written; nothing was: when it was read
};

// {"partition", "offsets", "of", "before"}; null when nothing is lacking.
[[nodiscard]] admin::Json unread_json(const Unread& unread);

// What is done with them.
struct InPieces {
  std::int64_t first;            // offsets of the first piece, which is read in any case
  LogReading::Visit visit;       // each record of a piece, oldest first
  std::function<bool()> enough;  // behind each piece that was read whole; true: older ones are not wanted
  GoOn go_on;
};

// How many offsets the next piece has, when so many were read in that time; 0: there is no time for one. A piece is as
// long as all before it, but it is to fit into half of the time that is left, because it may be slower.
[[nodiscard]] std::int64_t next_piece(std::int64_t first, std::int64_t read, std::chrono::nanoseconds took,
                                      Milliseconds time_max);

// Begins no piece but the first that would not be read within `time_max`. 0: no limit. kInvalid: there is no such
// topic, or it may not be read.
[[nodiscard]] Result<Unread> read_newest_first(const Application& application, const std::string& topic,
                                               const std::string& key, const InPieces& what, Milliseconds time_max);

}  // namespace reseq::runtime
