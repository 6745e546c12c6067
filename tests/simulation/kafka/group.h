// Group: the group coordinator with the classic eager protocol, range over the one topic that all members subscribe to,
// and the offsets of the group.
//
// A member that has to join again keeps what it has until it polls; the group waits for it until its session ends or
// the rebalance does. A static member that comes back within its session gets the same generation and partitions under
// a new member id, and the old id is fenced.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/kafka/transactions.h"

namespace reseq::simulation {

// What a member sends along.
struct Membership {
  std::int32_t generation = -1;
  std::string member_id = {};
  std::string instance_id = {};  // empty: a dynamic member
};

enum class GroupAnswer : std::uint8_t { kGood, kUnknownMember, kFencedInstance, kIllegalGeneration };

struct PlaceOffset {
  Place place;
  Offset next;
};

class Group {
 public:
  // `partitions`: of the subscribed topic. Returns the member id.
  std::string join(const std::string& instance_id, std::int32_t partitions, Milliseconds session_timeout,
                   Milliseconds rebalance_timeout, UnixMs now);
  // Answers the group's request to join again. REQUIRES: a member.
  void join_again(const std::string& member_id);
  void leave(const std::string& member_id, UnixMs now);

  // Is it a member still? Takes note of its life.
  GroupAnswer heartbeat(const Membership& who, UnixMs now);
  // Throws out whose session is over, and who did not join in time.
  void expire(UnixMs now);

  [[nodiscard]] bool wants_join(const std::string& member_id) const;
  // Partitions in the current generation; nothing while the group is being rebalanced.
  [[nodiscard]] std::optional<std::vector<Partition>> assignment(const std::string& member_id) const;
  [[nodiscard]] std::int32_t generation() const { return generation_; }
  [[nodiscard]] std::size_t members() const { return members_.size(); }
  [[nodiscard]] bool rebalancing() const { return rebalancing_; }

  // TxnOffsetCommit: pending until the marker. Checks what a broker checks: never who owns a partition, and nothing at
  // all for a generation below 0 without member and instance (KIP-447's hole).
  GroupAnswer commit(ProducerId producer, const Membership& who, const std::vector<PlaceOffset>& next);
  void end_transaction(ProducerId producer, Fate fate);
  // False: a transaction is pending that would change it.
  [[nodiscard]] bool stable(Place place) const;
  [[nodiscard]] Offset committed(Place place) const;  // kNoOffset: none
  // Offsets that have expired, or that somebody has deleted.
  void forget_offsets() { offsets_.clear(); }

 private:
  struct Member {
    std::string id;
    std::string instance_id;
    Milliseconds session_timeout;
    Milliseconds rebalance_timeout;
    UnixMs seen;
    bool joined = false;
    std::vector<Partition> partitions;
  };

  Member* find(const std::string& member_id);
  [[nodiscard]] const Member* find(const std::string& member_id) const;
  [[nodiscard]] GroupAnswer check(const Membership& who) const;
  void rebalance(UnixMs now);
  void complete();

  std::vector<Member> members_;
  std::int32_t generation_ = 0;
  std::int32_t partitions_ = 0;
  std::uint64_t ids_given_ = 0;
  bool rebalancing_ = false;
  UnixMs rebalance_ends_;
  std::map<Place, Offset> offsets_;
  std::map<ProducerId, std::map<Place, Offset>> pending_;
};

}  // namespace reseq::simulation
