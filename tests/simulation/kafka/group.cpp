#include "tests/simulation/kafka/group.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace reseq::simulation {

std::string Group::join(const std::string& instance_id, std::int32_t partitions, Milliseconds session_timeout,
                        Milliseconds rebalance_timeout, UnixMs now) {
  partitions_ = partitions;
  const std::string id = "member-" + std::to_string(++ids_given_);
  const auto known = std::find_if(members_.begin(), members_.end(), [&](const Member& one) {
    return !instance_id.empty() && one.instance_id == instance_id;
  });
  if (known != members_.end()) {
    known->id = id;
    known->seen = now;
    known->joined = true;
    complete();
    return id;
  }
  members_.push_back({id, instance_id, session_timeout, rebalance_timeout, now, true, {}});
  rebalance(now);
  members_.back().joined = true;
  complete();
  return id;
}

void Group::join_again(const std::string& member_id) {
  Member* member = find(member_id);
  RESEQ_ASSERT(member != nullptr, "only a member joins again");
  member->joined = true;
  complete();
}

void Group::leave(const std::string& member_id, UnixMs now) {
  if (std::erase_if(members_, [&](const Member& one) { return one.id == member_id; }) != 0) rebalance(now);
}

GroupAnswer Group::heartbeat(const Membership& who, UnixMs now) {
  const GroupAnswer answer = check(who);
  if (answer == GroupAnswer::kGood) find(who.member_id)->seen = now;
  return answer;
}

void Group::expire(UnixMs now) {
  const bool overdue = rebalancing_ && now > rebalance_ends_;
  const std::size_t gone = std::erase_if(members_, [&](const Member& one) {
    return now.value() - one.seen.value() > one.session_timeout.value() || (overdue && !one.joined);
  });
  if (gone == 0) return;
  if (rebalancing_) {
    complete();
  } else {
    rebalance(now);
  }
}

bool Group::wants_join(const std::string& member_id) const {
  const Member* member = find(member_id);
  return rebalancing_ && member != nullptr && !member->joined;
}

std::optional<std::vector<Partition>> Group::assignment(const std::string& member_id) const {
  const Member* member = find(member_id);
  if (rebalancing_ || member == nullptr) return std::nullopt;
  return member->partitions;
}

void Group::rebalance(UnixMs now) {
  if (!rebalancing_) {
    std::int64_t longest = 0;
    for (Member& member : members_) {
      member.joined = false;
      longest = std::max(longest, member.rebalance_timeout.value());
    }
    rebalance_ends_ = UnixMs(now.value() + longest);
  }
  rebalancing_ = true;
  complete();
}

// Ends the rebalance when everyone has joined. Range: by instance id, else by member id; the first ones get one more.
void Group::complete() {
  if (!rebalancing_ || !std::all_of(members_.begin(), members_.end(), [](const Member& one) { return one.joined; }))
    return;
  rebalancing_ = false;
  ++generation_;
  std::vector<Member*> order;
  for (Member& member : members_) order.push_back(&member);
  const auto name = [](const Member* one) { return one->instance_id.empty() ? one->id : one->instance_id; };
  std::sort(order.begin(), order.end(), [&](const Member* a, const Member* b) { return name(a) < name(b); });
  const auto count = static_cast<std::int32_t>(order.size());
  std::int32_t next = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    Member& member = *order[static_cast<std::size_t>(i)];
    member.partitions.clear();
    const std::int32_t share = partitions_ / count + (i < partitions_ % count ? 1 : 0);
    for (std::int32_t p = 0; p < share; ++p) member.partitions.emplace_back(next++);
  }
}

GroupAnswer Group::check(const Membership& who) const {
  if (!who.instance_id.empty()) {
    const auto known = std::find_if(members_.begin(), members_.end(),
                                    [&](const Member& one) { return one.instance_id == who.instance_id; });
    if (known == members_.end()) return GroupAnswer::kUnknownMember;
    return known->id == who.member_id ? GroupAnswer::kGood : GroupAnswer::kFencedInstance;
  }
  return find(who.member_id) == nullptr ? GroupAnswer::kUnknownMember : GroupAnswer::kGood;
}

GroupAnswer Group::commit(ProducerId producer, const Membership& who, const std::vector<PlaceOffset>& next) {
  const bool hole = who.generation < 0 && (members_.empty() || (who.member_id.empty() && who.instance_id.empty()));
  if (!hole) {
    if (const GroupAnswer answer = check(who); answer != GroupAnswer::kGood) return answer;
    if (who.generation != generation_) return GroupAnswer::kIllegalGeneration;
  }
  for (const PlaceOffset& one : next) pending_[producer][one.place] = one.next;
  return GroupAnswer::kGood;
}

void Group::end_transaction(ProducerId producer, Fate fate) {
  const auto pending = pending_.find(producer);
  if (pending == pending_.end()) return;
  if (fate == Fate::kCommitted)
    for (const auto& [place, next] : pending->second) offsets_[place] = next;
  pending_.erase(pending);
}

bool Group::stable(Place place) const {
  return std::none_of(pending_.begin(), pending_.end(), [&](const auto& one) { return one.second.contains(place); });
}

Offset Group::committed(Place place) const {
  const auto found = offsets_.find(place);
  return found == offsets_.end() ? kNoOffset : found->second;
}

Group::Member* Group::find(const std::string& member_id) {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.id == member_id; });
  return found == members_.end() ? nullptr : &*found;
}

const Group::Member* Group::find(const std::string& member_id) const {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.id == member_id; });
  return found == members_.end() ? nullptr : &*found;
}

}  // namespace reseq::simulation
