// MergedLog: the partitions of the input and the output as one stream, in the order of their timestamps; at the same
// time the input first, because a request is in the log before its result can exist. It goes in rounds, each up to ends
// that were asked before, so that it always ends. One record of each partition is held; the rest waits in the queues of
// the client, whose memory is bounded.
//
// Invariant: position() is what was taken from a partition, not what was fetched.
// Thread rule: one thread. Destroyed before the bystander.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kafka/bystander.h"
#include "kafka/cluster.h"
#include "model/ids.h"

namespace reseq::observe {

struct Stream {
  Role role = Role::kRequests;  // or kCommands: the output
  Partition partition;
  Offset position;  // next offset to take
};

struct Taken {
  std::size_t stream = 0;
  UnixMs timestamp;  // of the record, or of the one before it when it has none
  bool timed = true;
  kafka::Record record = {};
};

class MergedLog {
 public:
  // `streams` in the order of the places of the bystander. REQUIRES: it outlives this.
  MergedLog(kafka::Bystander& bystander, const std::vector<Stream>& streams);

  // A round up to these, by stream. One that is below the position changes nothing.
  void read_to(const std::vector<Offset>& ends);

  enum class State : std::uint8_t {
    kTaken,
    kWaiting,   // some partition has not delivered yet: ask again
    kRoundOver  // nothing is left of the round
  };
  // The earliest record. `only`: of the input, up to that time; kRoundOver then says that there are no more of these.
  // An error: a partition cannot be read, and which.
  Result<State> take(std::optional<UnixMs> only, Milliseconds limit, Taken& taken);

  [[nodiscard]] Offset position(std::size_t stream) const;
  // Offsets of the round that were not taken yet, of streams with this role.
  [[nodiscard]] std::int64_t left(Role role) const;

 private:
  struct One {
    Stream stream;
    Offset end{0};
    Offset behind{0};  // what was fetched
    UnixMs timestamp;  // of the last record
    std::optional<Taken> head;
  };
  Result<bool> fill(std::size_t at, Milliseconds limit);
  [[nodiscard]] static bool has_more(const One& one);

  kafka::Bystander& bystander_;
  std::vector<One> all_;
};

}  // namespace reseq::observe
