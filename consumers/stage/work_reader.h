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

struct WorkRecord {
  Partition partition;
  Offset offset;
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::vector<OwnedHeader> headers;
};

// Is told inside poll(), and when the reader is destroyed.
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
  // REQUIRES: called once, before poll(); the listener outlives the reader.
  virtual void listen(AssignmentListener& listener) = 0;
  // read_committed.
  virtual Result<std::optional<WorkRecord>> poll(Milliseconds limit) = 0;
  // Where each partition is read next; at the end of a log behind the control records.
  [[nodiscard]] virtual std::vector<NextOffset> positions() const = 0;
  // Waits for the answer. kRetriable, kTimeout, kAbort: perhaps nothing was committed, e.g. because the group is
  // rebalancing; those records may come again, here or elsewhere.
  virtual Result<> commit(std::span<const NextOffset> offsets) = 0;
};

class ResultSender {
 public:
  virtual ~ResultSender() = default;
  // Queues a record to `commands`; its bytes are copied. kRetriable: the queue is full, ask for acknowledgements and
  // try again. kInvalid: this record can never be sent (too large).
  virtual Result<> send(const Ticket& ticket, std::optional<std::string_view> key,
                        std::optional<std::string_view> payload, std::span<const OwnedHeader> headers) = 0;
  // The tickets of results that the broker has, one per result. An error: a result cannot be delivered any more.
  virtual Result<std::vector<Ticket>> acknowledged(Milliseconds limit) = 0;
};

}  // namespace reseq::stage
