// WorkReader, ResultSender: what a stage needs of Kafka. The one seam of the stage to the world.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "consumers/stage/in_flight.h"
#include "consumers/stage/result.h"
#include "model/ids.h"

namespace reseq::stage {

// A limit that waits for nothing.
inline constexpr Milliseconds kAtOnce{0};
// How long a reader takes to leave its group.
inline constexpr Milliseconds kCloseLimit{3'000};

// Nothing, or perhaps only a part, was done: it may be tried again.
[[nodiscard]] inline bool means_later(const Error& error) {
  return error.what_to_do == ErrorClass::kRetriable || error.what_to_do == ErrorClass::kTimeout ||
         error.what_to_do == ErrorClass::kAbort;
}

struct WorkRecord {
  Partition partition;
  Offset offset;
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::vector<OwnedHeader> headers;
  UnixMs timestamp = {};  // 0 = none
};

// Is told inside poll(), commit() and close().
class AssignmentListener {
 public:
  virtual ~AssignmentListener() = default;
  virtual void on_assigned(std::span<const Partition> partitions) = 0;
  // `may_commit`: what is done may still be committed, inside this call. Otherwise others may own them already.
  virtual void on_revoked(std::span<const Partition> partitions, bool may_commit) = 0;
};

class WorkReader {
 public:
  virtual ~WorkReader() = default;
  // REQUIRES: called once, before poll(); the listener lives until close().
  virtual void listen(AssignmentListener& listener) = 0;
  // read_committed.
  virtual Result<std::optional<WorkRecord>> poll(Milliseconds limit) = 0;
  // Where each partition is read next; at the end of a log behind the control records.
  [[nodiscard]] virtual std::vector<NextOffset> positions() const = 0;
  // Waits for the answer. kRetriable, kTimeout, kAbort: perhaps nothing or only a part was committed, e.g. because the
  // group is rebalancing or it is too much at once; those records may come again, here or elsewhere. May tell the
  // listener that everything in flight is revoked and assigned anew: then it is all read again.
  virtual Result<> commit(std::span<const NextOffset> offsets) = 0;
  // Tells the listener, leaves the group. Nothing else is called afterwards.
  virtual void close() = 0;
};

class ResultSender {
 public:
  virtual ~ResultSender() = default;
  // Queues a record to `commands`; its bytes are copied. kRetriable: the queue is full, ask for acknowledgements and
  // try again. kInvalid: this record can never be sent (too large).
  virtual Result<> send(const Ticket& ticket, std::optional<std::string_view> key,
                        std::optional<std::string_view> payload, std::span<const OwnedHeader> headers) = 0;
  // The tickets of results that no crash loses any more once the offset of their record is committed, one per result.
  // An error: a result cannot be delivered any more.
  virtual Result<std::vector<Ticket>> acknowledged(Milliseconds limit) = 0;
  // Records whose results wait here for the commit of their offset.
  [[nodiscard]] virtual std::size_t held() const = 0;
  // Those of this record do.
  [[nodiscard]] virtual bool holds(const Ticket& ticket) const = 0;
};

}  // namespace reseq::stage
