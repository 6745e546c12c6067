#include "consumers/stage/in_flight.h"

#include "base/assert.h"

namespace reseq::stage {

void InFlight::assigned(Partition partition) {
  const bool added =
      owned_.emplace(partition, Owned{.assignment = Assignment(++assignments_), .tracker = {}, .taken = kNoOffset})
          .second;
  RESEQ_ASSERT(added, "a partition of `work` was assigned twice");
}

void InFlight::revoked(Partition partition) {
  owned_.erase(partition);
  std::erase_if(open_, [&](const auto& open) { return open.first.partition == partition && !open.second.kept; });
}

std::vector<Partition> InFlight::owned() const {
  std::vector<Partition> partitions;
  for (const auto& [partition, owned] : owned_) partitions.push_back(partition);
  return partitions;
}

Ticket InFlight::start(Partition partition, Offset offset) {
  const auto owned = owned_.find(partition);
  RESEQ_ASSERT(owned != owned_.end(), "a record of a partition that is not owned");
  // A broker that has just become the leader may say that the position is out of range, and the client begins anew.
  if (owned->second.tracker && offset < owned->second.tracker->position()) {
    revoked(partition);
    assigned(partition);
    return start(partition, offset);
  }
  if (!owned->second.tracker) owned->second.tracker.emplace(offset);
  owned->second.tracker->start(offset);
  const Ticket ticket{partition, offset, owned->second.assignment};
  open_.emplace(ticket, Open{});
  return ticket;
}

void InFlight::reached(Partition partition, Offset next) {
  const auto owned = owned_.find(partition);
  if (owned == owned_.end()) return;
  if (!owned->second.tracker) owned->second.tracker.emplace(next);
  owned->second.tracker->reached(next);
}

void InFlight::sent(const Ticket& ticket) {
  const auto open = open_.find(ticket);
  RESEQ_ASSERT(open != open_.end() && !open->second.finished, "a result for work that is not in flight");
  ++open->second.unacknowledged;
}

void InFlight::acknowledged(const Ticket& ticket) {
  const auto open = open_.find(ticket);
  if (open == open_.end()) return;
  RESEQ_ASSERT(open->second.unacknowledged > 0, "an acknowledgement of nothing");
  --open->second.unacknowledged;
  close_when_done(open);
}

void InFlight::finished(const Ticket& ticket) {
  const auto open = open_.find(ticket);
  if (open == open_.end()) return;
  open->second.finished = true;
  close_when_done(open);
}

void InFlight::keep(const Ticket& ticket) {
  const auto open = open_.find(ticket);
  RESEQ_ASSERT(open != open_.end() && !open->second.kept, "a record that is not in flight is kept");
  open->second.kept = true;
  finish_in_partition(ticket);
}

void InFlight::give_up(const Ticket& ticket) {
  const auto open = open_.find(ticket);
  if (open == open_.end()) return;
  const bool kept = open->second.kept;
  open_.erase(open);
  if (!kept) finish_in_partition(ticket);
}

void InFlight::finish_in_partition(const Ticket& ticket) {
  const bool known = owned_.at(ticket.partition).tracker->finish(ticket.offset);
  RESEQ_ASSERT(known, "work in flight that its partition does not know");
}

void InFlight::close_when_done(std::map<Ticket, Open>::iterator open) {
  if (!open->second.finished || open->second.unacknowledged > 0) return;
  const Ticket ticket = open->first;
  const bool kept = open->second.kept;
  open_.erase(open);
  if (!kept) finish_in_partition(ticket);
}

std::vector<NextOffset> InFlight::take_committable() {
  std::vector<NextOffset> offsets;
  for (auto& [partition, owned] : owned_) {
    if (!owned.tracker || owned.tracker->committable() <= owned.taken) continue;
    owned.taken = owned.tracker->committable();
    offsets.push_back({partition, owned.taken});
  }
  return offsets;
}

void InFlight::not_committed(std::span<const NextOffset> offsets) {
  for (const NextOffset& offset : offsets) {
    const auto owned = owned_.find(offset.partition);
    if (owned != owned_.end() && owned->second.taken == offset.next) owned->second.taken = kNoOffset;
  }
}

std::size_t InFlight::unacknowledged() const {
  std::size_t count = 0;
  for (const auto& [ticket, open] : open_) count += open.unacknowledged;
  return count;
}

}  // namespace reseq::stage
