// Row: all that is known of one document. The changelog record of a document is its row, encoded.
// Thread rule: plain values.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/journal.h"
#include "model/lane.h"
#include "model/order.h"
#include "model/rare_list.h"
#include "model/rare_text.h"
#include "model/target.h"

namespace reseq {

// What is known of the targets at one order. Invariants: the three sets are disjoint and not all empty; a target is
// pending or removed only in the group of newest(t); in an older group it can only be served ("last release of t").
struct Group {
  Order order;
  bool requested = false;  // a request with this order was seen since the group is there (not only REGISTER commands)
  TargetSet pending;
  TargetSet served;
  TargetSet removed;

  [[nodiscard]] TargetSet known() const { return pending | served | removed; }
  friend bool operator==(const Group&, const Group&) = default;
};

// Since when some targets wait for a release: time of the first registration after their last one (starvation).
struct Since {
  TargetSet targets;
  UnixMs first_registered;
  friend bool operator==(const Since&, const Since&) = default;
};

// Waiting targets that got a newer request meanwhile, and the order with which their wait began, or began anew because
// the epoch was raised or that order processed again. When they starve nothing older than that goes out: the row may
// have forgotten what was released before. It counts for those that wait since that time: a version that does not know
// of it leaves it behind when they end.
struct Overtaken {
  TargetSet targets;
  Order began;
  UnixMs first_registered;
  friend bool operator==(const Overtaken&, const Overtaken&) = default;
};

// When something was released last for targets that went on waiting, because it was older than what they wait for. It
// counts for those that have waited since before: a version that does not know of it leaves it behind when they end.
struct Meanwhile {
  TargetSet targets;
  UnixMs released;
  friend bool operator==(const Meanwhile&, const Meanwhile&) = default;
};

// The newest order that came as a request: tells a repeated request from two edits under one sequence (R5).
struct Requested {
  Order order;
  Offset position;  // of that request in `requests`
  PayloadHash hash;
  TargetSet forwarded;  // its reseq-targets on `work`, as last sent: a list of UNREGISTER that was not copied differs
  Digest content = {};  // codec::content_hash() of it, to tell that another one asks for the same; 0 = nobody knows
  friend bool operator==(const Requested&, const Requested&) = default;
};

// The last release of a target was a delete, and when. It holds while the target is served at this order: a version
// that does not know of deletions leaves behind what it has overtaken.
struct Deletion {
  TargetNumber target;
  Order order;
  UnixMs at;
  friend bool operator==(const Deletion&, const Deletion&) = default;
};

// What workers could not do of an order, as they said last for these targets. It counts for those that are pending at
// the order, and are tried again; with `for_good` also for those that were given up there.
struct Failure {
  TargetSet targets;
  Order order;
  std::uint32_t attempt = 0;  // that failed last
  std::uint32_t retries = 0;  // that it was given
  std::uint32_t repeats = 0;  // so often in a row it was this error, of an unknown kind
  bool for_good = false;
  bool effect_unknown = false;  // for good because nobody knows whether it was done, and it must not be done twice
  UnixMs at;
  std::string error;       // at most kMaxErrorBytes
  bool exhausted = false;  // for good because its retries were used up: another time it may work
  friend bool operator==(const Failure&, const Failure&) = default;
};
inline constexpr std::size_t kMaxErrorBytes = 1024;
// Of all of a row together: it has to fit the changelog.
inline constexpr std::size_t kMaxErrorsBytes = 8 * kMaxErrorBytes;

struct Row {
  Row();
  std::optional<Order> barrier;                     // of the last delete that was meant for all targets
  boost::container::small_vector<Group, 2> groups;  // newest order first, orders strictly falling
  boost::container::small_vector<Since, 1> since;   // sets disjoint
  Version last_version;                             // of the last release, 0 = none
  UnixMs deadline;  // live row: overdue from then on (0 = no timeout); watermark: kept until then (0 = for ever)
  bool overdue = false;
  std::optional<Requested> requested;
  RareList<Deletion> deletions;    // each target once, in the order of their releases
  RareList<Meanwhile> meanwhile;   // sets disjoint
  RareList<Overtaken> overtaken;   // sets disjoint
  RareList<Failure> failures;      // sets disjoint, but for those of ordered targets: one for each order
  RareList<JournalEntry> journal;  // those that wait by rising order, then the others as they came
  RareList<Lane> lanes;            // of ordered targets, by target
  RareText extensions;             // optional ones that this version does not know, kept as they came

  [[nodiscard]] TargetSet pending() const {
    TargetSet all;
    for (const Group& group : groups) all |= group.pending;
    return all;
  }
  // Something of the document is still to come for them: a result, or its turn in the journal or in a lane.
  [[nodiscard]] TargetSet unfinished() const {
    TargetSet all = pending();
    for (const JournalEntry& entry : journal)
      if (entry.state == EntryState::kWaiting) all |= entry.targets;
    return all | in_lanes();
  }
  [[nodiscard]] TargetSet known() const {
    TargetSet all;
    for (const Group& group : groups) all |= group.known();
    return all;
  }
  // Null: the last release of the target was none, or there was none.
  [[nodiscard]] const Deletion* deletion_of(TargetNumber target) const {
    for (const Deletion& deletion : deletions)
      if (deletion.target == target && still_holds(deletion)) return &deletion;
    return nullptr;
  }
  [[nodiscard]] bool still_holds(const Deletion& deletion) const {
    for (const Group& group : groups)
      if (group.order == deletion.order) return group.served.contains(deletion.target);
    return false;
  }
  // Null: it waits for the order with which its wait began, or it does not wait.
  [[nodiscard]] const Overtaken* overtaken_of(TargetNumber target) const {
    for (const Overtaken& one : overtaken)
      if (one.targets.contains(target) && waits_since(target, one.first_registered)) return &one;
    return nullptr;
  }
  [[nodiscard]] bool waits_since(TargetNumber target, UnixMs time) const {
    for (const Since& one : since)
      if (one.targets.contains(target)) return one.first_registered == time;
    return false;
  }
  // Calls visit(targets, time) for all that wait: since when they do and got nothing.
  template <typename Visit>
  void each_without_release(Visit visit) const {
    for (const Since& one : since) {
      TargetSet left = one.targets;
      for (const Meanwhile& got : meanwhile) {
        const TargetSet served = got.released > one.first_registered ? left & got.targets : TargetSet();
        if (!served.empty()) visit(served, got.released);
        left = left.without(served);
      }
      if (!left.empty()) visit(left, one.first_registered);
    }
  }
  // Of the targets for which it is longest; none when none waits.
  [[nodiscard]] std::optional<UnixMs> without_release_since() const {
    if (since.size() == 1 && meanwhile.empty()) return since.front().first_registered;  // most of them
    std::optional<UnixMs> longest;
    each_without_release([&](TargetSet, UnixMs time) {
      if (!longest || time < *longest) longest = time;
    });
    return longest;
  }
  // Null: nobody said that it could not be done for this target, since it waits for what it waits for.
  [[nodiscard]] const Failure* failure_of(TargetNumber target, const Order& order) const {
    for (const Failure& one : failures)
      if (one.order == order && one.targets.contains(target)) return &one;
    return nullptr;
  }
  // Those for which it still counts: a command without a journal leaves behind what it has overtaken.
  [[nodiscard]] TargetSet holding(const Failure& failure) const {
    TargetSet holding = failure.targets & in_lanes();  // forgotten where its place ends
    for (const Group& group : groups)
      if (group.order == failure.order)
        holding |= failure.targets & (failure.for_good ? group.pending | group.removed : group.pending);
    return holding;
  }
  // Given up because of their failures.
  [[nodiscard]] TargetSet failed_at(const Group& group) const {
    TargetSet failed;
    for (const Failure& one : failures)
      if (one.for_good && one.order == group.order) failed |= one.targets & group.removed;
    return failed;
  }
  // Of all orders: nothing newer came since for these targets.
  [[nodiscard]] TargetSet failed() const {
    TargetSet failed;
    for (const Group& group : groups) failed |= failed_at(group);
    return failed;
  }
  // Of an entry that was dispatched: targets that are pending at its order, and if it waits again those that stayed
  // behind, for which nothing is known there yet.
  [[nodiscard]] TargetSet wanted(const JournalEntry& entry) const {
    const bool waits = entry.state == EntryState::kWaiting;
    const TargetSet in_order = lanes.empty() ? TargetSet() : entry.targets & in_lanes();
    if (waits && barrier && entry.order < *barrier) return in_order;
    TargetSet pending;
    TargetSet ended;
    for (const Group& group : groups) {
      if (group.order == entry.order) pending = group.pending;
      if (group.order >= entry.order) ended |= group.known().without(pending);
    }
    return in_order | (waits ? entry.targets.without(ended) : entry.targets & pending);
  }
  // No target is pending: the row is a watermark that stops old results.
  [[nodiscard]] bool completed() const { return pending().empty(); }
  // An order of it is to be dispatched.
  [[nodiscard]] bool waits() const {
    for (const JournalEntry& entry : journal)
      if (entry.state == EntryState::kWaiting) return true;
    return false;
  }
  // An order that was dispatched is under way, with a lease.
  [[nodiscard]] bool processing() const {
    for (const JournalEntry& entry : journal)
      if (entry.takes_room()) return true;
    return false;
  }
  // Null: it never had a place in this lane, or nobody knows any more.
  [[nodiscard]] const Lane* lane_of(TargetNumber target) const {
    for (const Lane& lane : lanes)
      if (lane.target == target) return &lane;
    return nullptr;
  }
  // In the keys of its places; 0: it never had one.
  [[nodiscard]] std::uint64_t lane_number() const { return lanes.empty() ? 0 : lanes.begin()->document; }
  // It has a place in a lane.
  [[nodiscard]] bool in_lane() const { return !in_lanes().empty(); }
  // Ordered targets in whose lanes it has a place.
  [[nodiscard]] TargetSet in_lanes() const {
    TargetSet targets;
    for (const Lane& lane : lanes)
      if (lane.places > 0) targets |= TargetSet::of(lane.target);
    return targets;
  }
  // Ordered targets for which this order waits in the journal, or is under way: nothing newer takes them over.
  [[nodiscard]] TargetSet waiting_in_lanes(const Order& order) const {
    TargetSet targets;
    if (lanes.empty()) return targets;
    for (const JournalEntry& entry : journal)
      if (entry.order == order && entry.state != EntryState::kGone) targets |= entry.targets;
    return targets & in_lanes();
  }
  // Something of it is still to happen.
  [[nodiscard]] bool live() const {
    return !completed() || (!journal.empty() && waits()) || (!lanes.empty() && in_lane());
  }

  friend bool operator==(const Row&, const Row&) = default;
};

// Not in the class: a row that is made with () would have all of its bytes zeroed before its members are made.
inline Row::Row() = default;

}  // namespace reseq
