// InFlight: the records of `work` that a stage has handed out and not finished, over all partitions it owns.
// Invariant: a record counts as done only when it was finished and every result sent for it was acknowledged, so what
// committable() says may be committed without losing a result (at least once).
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "consumers/stage/offset_tracker.h"
#include "model/ids.h"

namespace reseq::stage {

// Which assignment a record was read under: a partition that went away and came back is another life of it.
using Assignment = Strong<struct AssignmentTag, std::uint64_t>;

// Names one record that is in flight.
struct Ticket {
  Partition partition;
  Offset offset;
  Assignment assignment;
  friend auto operator<=>(const Ticket&, const Ticket&) = default;
};

struct NextOffset {
  Partition partition;
  Offset next;
  friend bool operator==(const NextOffset&, const NextOffset&) = default;
};

class InFlight {
 public:
  // The partition is read from now on. REQUIRES: it is not owned.
  void assigned(Partition partition);
  // Its work in flight is dropped: whoever owns it now reads it again.
  void revoked(Partition partition);
  [[nodiscard]] std::vector<Partition> owned() const;

  // A record was read. REQUIRES: the partition is owned. One from before the last is as after a revoke and a new
  // assignment: what was in flight is read again, or is not in the log any more.
  Ticket start(Partition partition, Offset offset);
  // The reader stands at `next`. Ignored when the partition is not owned.
  void reached(Partition partition, Offset next);

  // False for work that is finished, or was dropped at a revoke: nothing is to be done for it.
  [[nodiscard]] bool contains(const Ticket& ticket) const { return open_.contains(ticket); }
  // A result is on its way. REQUIRES: contains(ticket).
  void sent(const Ticket& ticket);
  // The broker has it. Ignored when the ticket was dropped meanwhile.
  void acknowledged(const Ticket& ticket);
  // No more results will be sent. Ignored when the ticket was dropped meanwhile.
  void finished(const Ticket& ticket);
  // Its offset may be committed before anything is done: the record is ours then, whoever gets its partition.
  // REQUIRES: contains(ticket).
  void keep(const Ticket& ticket);
  // Nothing more is sent for it, and its offset may be committed: somebody else gets the document another way. Ignored
  // when the ticket was dropped meanwhile.
  void give_up(const Ticket& ticket);
  // It is forgotten, as at a revoke.
  void drop(const Ticket& ticket) { open_.erase(ticket); }

  [[nodiscard]] std::size_t size() const { return open_.size(); }
  // Results on their way, of all records in flight.
  [[nodiscard]] std::size_t unacknowledged() const;

  // What may be committed and was not returned before.
  [[nodiscard]] std::vector<NextOffset> take_committable();
  // The commit of these failed: take_committable() returns them, or what they have grown to, again.
  void not_committed(std::span<const NextOffset> offsets);

 private:
  struct Owned {
    Assignment assignment;
    std::optional<OffsetTracker> tracker;  // none until the first record tells where reading starts
    Offset taken = kNoOffset;
  };
  struct Open {
    std::uint32_t unacknowledged = 0;
    bool finished = false;
    bool kept = false;  // its partition knows nothing of it any more
  };
  void close_when_done(std::map<Ticket, Open>::iterator open);
  void finish_in_partition(const Ticket& ticket);

  std::map<Partition, Owned> owned_;
  std::map<Ticket, Open> open_;
  std::uint64_t assignments_ = 0;
};

}  // namespace reseq::stage
