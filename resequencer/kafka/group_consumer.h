// GroupConsumer: reads topics for pipelines and sinks, either as a subscribed member of a group that commits its
// progress itself (join, commit), or from explicit offsets without a group (open, assign_all).
// Thread rule: one thread; the rebalance callback runs inside poll() and close(). Records must be destroyed before it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/plain_record.h"
#include "kafka/settings.h"
#include "model/ids.h"

namespace reseq::kafka {

struct GroupConsumerSettings {
  std::string group_id;
  std::string group_instance_id = {};  // static member; empty = dynamic: leaves the group when it closes
  std::vector<std::string> topics;
  Isolation isolation = Isolation::kReadCommitted;
  Milliseconds session_timeout{10'000};
  Milliseconds max_poll_interval{300'000};
  std::uint64_t message_bytes_max = 20 * 1024 * 1024;
  std::uint64_t fetch_queue_bytes_max = 32 * 1024 * 1024;
  // The member says itself where it reads (read_from), because it knows better than the group's offsets, or to rest for
  // a while. Nothing is read of an assignment before; an offset that is not in the log is an error of poll().
  bool starts_by_hand = false;
};

// What the group gave to this member or takes back. `next` holds the partitions; offsets are kNoOffset.
struct Rebalance {
  enum class Kind : unsigned char {
    kAssigned,  // they are read from the committed offsets from now on, or from the beginning, or by read_from()
    kRevoked,   // last chance to commit what is done; what is still in flight must be dropped
    kLost,      // as revoked, but others may own them already: do not commit
  };
  Kind kind = Kind::kAssigned;
  std::vector<PlainOffset> partitions;
};
using RebalanceCallback = std::function<void(const Rebalance&)>;

class GroupConsumer {
 public:
  // Member of a group. Partitions without committed offset are read from their beginning.
  static Result<std::unique_ptr<GroupConsumer>> join(const Connection& connection,
                                                     const GroupConsumerSettings& settings,
                                                     RebalanceCallback on_rebalance = {});
  // No group, for readers that keep their offsets themselves; nothing is read before assign_all().
  static Result<std::unique_ptr<GroupConsumer>> open(const Connection& connection,
                                                     Isolation isolation = Isolation::kReadCommitted);
  virtual ~GroupConsumer() = default;  // closes, waits a few seconds at most

  // Without a group: reads all partitions of the topic, each from the offset given, or from its beginning.
  virtual Result<> assign_all(std::string_view topic, std::span<const PlainOffset> next, Milliseconds limit) = 0;

  // REQUIRES: starts_by_hand. Replaces what is read: these partitions of the assignment from these offsets, the others
  // not at all. Records already fetched are not delivered twice. Polling goes on, also when nothing is read.
  virtual Result<> read_from(std::span<const PlainOffset> next) = 0;

  // The next record; nothing when none came within the limit. kInvalid: an offset is not in the log any more, or no
  // permission. kFatal, kFenced: the consumer is unusable.
  virtual Result<std::optional<PlainRecord>> poll(Milliseconds limit) = 0;

  // Where each assigned partition is read next, as far as known. At the end of a log control records are counted, so
  // that a position reaches the stable end.
  [[nodiscard]] virtual std::vector<PlainOffset> positions() const = 0;

  // High watermark of a partition as it came with what was fetched last; asks nobody. Nothing: none came.
  [[nodiscard]] virtual std::optional<Offset> known_end(std::string_view topic, Partition partition) const = 0;

  // Commits next offsets (last done + 1) for the group, waits for the answer. kAbort: the partitions belong to somebody
  // else meanwhile, drop the work. kRetriable: try again.
  virtual Result<> commit(std::span<const PlainOffset> next) = 0;

  virtual void close(Milliseconds limit) = 0;
};

}  // namespace reseq::kafka
