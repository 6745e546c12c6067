// Start: where a partition is read from, when it comes to this member.
// Thread rule: plain values, pure function.
#pragma once

#include <optional>

#include "base/result.h"
#include "model/ids.h"

namespace reseq::remote {

// Of a log, as the brokers tell.
struct LogRange {
  Offset begin;
  Offset end;  // behind the last record that can be read
};

// `position`: the next offset that was kept; nothing: the partition was never read, it starts at the beginning.
// kInvalid: the log does not go back to the position any more, so releases are lost, or it ends before it, so it is
// another log. `skip_lost`: the first of them is meant, it goes on where the log begins.
[[nodiscard]] Result<Offset> start_of(Partition partition, std::optional<Offset> position, const LogRange& log,
                                      bool skip_lost);

}  // namespace reseq::remote
