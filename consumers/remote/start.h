// Start: where a partition is read from, when it comes to this member, and whether there is something to write into.
// Thread rule: start_of() is pure; judge_missing() is for one thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "consumers/remote/remote_store.h"
#include "kafka/admin.h"
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

// Whether a group that has committed this has written something of the log. A log that is empty now had what it read.
[[nodiscard]] bool has_read(const LogRange& log, Offset committed);

// What to do about a store in which nothing is, behind positions that say that something was read.
[[nodiscard]] std::string words_of_emptied(bool store_keeps_positions, const std::string& group,
                                           const std::string& topic);

// Of a store without positions: there is nothing to write into, but the group has committed that something was written.
// kInvalid: made anew it would lack that; the message says what to do.
[[nodiscard]] Result<> judge_missing(RemoteStore& store, kafka::Admin& admin, const std::string& group,
                                     const std::string& topic);

}  // namespace reseq::remote
