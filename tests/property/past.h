// Past: what the history of one document says at a moment, as facts without order tables: which registrations were
// accepted, what was released, what was given up. Each question is answered from those lists.
// Thread rule: plain value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/property/history.h"

namespace reseq::property {

enum class Standing : std::uint8_t { kUnknown, kPending, kServed, kRemoved };

// An accepted registration: these targets wait for this order from now on.
struct Claim {
  Order order;
  TargetSet targets;
  bool by_request = false;
};

// One target of one order: given up (UNREGISTER, or too large), or released.
struct Settled {
  Order order;
  TargetNumber target;
  Version version;  // of a release
  Op op = Op::kUpsert;
};

// A request that was taken note of: accepted, or known already.
struct Asked {
  Order order;
  PayloadHash hash;
  Digest content;          // what it asks for; 0 = nobody looks
  bool remembered = true;  // until the last target has left the order
};

// A request that asked for what its target had from another order: its last release counts as one of this order.
struct Kept {
  Order order;
  TargetNumber target;
  Order from;
  Digest content;
};

// A delete for all, with the number of releases that went before it.
struct Raised {
  Order barrier;
  std::size_t releases_before = 0;
};

class Past {
 public:
  void claim(const Claim& claim, UnixMs now);
  void release(const Settled& settled, UnixMs now);
  // REQUIRES: all of them are served.
  void keep(const Order& order, TargetSet targets, Digest content, UnixMs now);
  void remove(const Settled& settled, UnixMs now);
  void raise_barrier(const Order& order, UnixMs now);
  void ask(const Asked& asked);
  void forward(const Order& order, TargetSet targets) { forwards_.push_back({order, targets, true}); }

  // Highest order registered for the target, or at which it was given up.
  [[nodiscard]] const std::optional<Order>& newest(TargetNumber t) const { return of(t).newest; }
  // What the target is at newest(t).
  [[nodiscard]] Standing standing(TargetNumber t) const { return of(t).standing; }
  [[nodiscard]] const std::optional<Order>& last_release(TargetNumber t) const { return of(t).last_release; }
  // When that was, if it was a delete.
  [[nodiscard]] const std::optional<UnixMs>& deleted_at(TargetNumber t) const { return of(t).deleted_at; }
  // Since when it waits without a break. REQUIRES: pending.
  [[nodiscard]] UnixMs waits_since(TargetNumber t) const { return of(t).waits_since; }
  // What a starving target may get meanwhile is not older: the order with which its wait began, or with which it began
  // anew, because the epoch was raised or the order processed again. REQUIRES: pending.
  [[nodiscard]] const Order& wait_began(TargetNumber t) const { return of(t).wait_began; }
  // Since when the target waits and got nothing, not even what is older than what it waits for. REQUIRES: pending.
  [[nodiscard]] UnixMs gets_nothing_since(TargetNumber t) const { return of(t).gets_nothing_since; }
  // The same of the target for which it is longest. REQUIRES: live.
  [[nodiscard]] UnixMs gets_nothing_since() const;
  // How often anything of it changed.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  // When anything of it changed last.
  [[nodiscard]] UnixMs last_change() const { return last_change_; }
  [[nodiscard]] bool released(TargetNumber t, const Order& order) const;
  [[nodiscard]] bool given_up(TargetNumber t, const Order& order) const;
  // At this order or a newer one.
  [[nodiscard]] bool given_up_from(TargetNumber t, const Order& order) const;

  [[nodiscard]] bool exists() const { return newest_order().has_value(); }
  [[nodiscard]] std::optional<Order> newest_order() const;
  // Some target is at this order, or was released at it last.
  [[nodiscard]] bool holds(const Order& order) const;
  [[nodiscard]] TargetSet with(Standing standing) const;
  [[nodiscard]] TargetSet with(Standing standing, const Order& order) const;
  [[nodiscard]] TargetSet known() const;
  // The targets that are at this order, or were released at it last.
  [[nodiscard]] TargetSet known_at(const Order& order) const;
  [[nodiscard]] bool live() const { return !with(Standing::kPending).empty(); }

  [[nodiscard]] const std::optional<Order>& barrier() const { return barrier_; }
  [[nodiscard]] bool below_barrier(const Order& order) const { return barrier_ && order < *barrier_; }
  // What all accepted requests of this order asked for, 0 = not the same, or there was none.
  [[nodiscard]] Digest content_asked(const Order& order) const;
  // Some request of this order did.
  [[nodiscard]] bool asked_for(const Order& order, Digest content) const;
  // By a request that is remembered.
  [[nodiscard]] bool asked(const Order& order) const;
  [[nodiscard]] std::optional<Asked> newest_asked() const;
  [[nodiscard]] bool any_epoch() const;
  // The `reseq-targets` last sent to `work` for this order, or none.
  [[nodiscard]] TargetSet last_list(const Order& order) const;
  // Some record of `work` of this order had this list.
  [[nodiscard]] bool was_list(const Order& order, TargetSet targets) const;

  [[nodiscard]] const std::vector<Claim>& claims() const { return claims_; }
  [[nodiscard]] const std::vector<Settled>& releases() const { return releases_; }
  [[nodiscard]] const std::vector<Kept>& kept() const { return kept_; }
  [[nodiscard]] const std::vector<Raised>& raised() const { return raised_; }

 private:
  struct Target {
    std::optional<Order> newest;
    Standing standing = Standing::kUnknown;
    std::optional<Order> last_release;
    std::optional<UnixMs> deleted_at;
    UnixMs waits_since;
    Order wait_began;
    UnixMs gets_nothing_since;
  };
  [[nodiscard]] const Target& of(TargetNumber t) const { return targets_[t.value()]; }
  [[nodiscard]] Target& of(TargetNumber t) { return targets_[t.value()]; }
  void forget_left_orders();

  std::array<Target, kTargets> targets_;
  std::vector<Claim> claims_;
  std::vector<Settled> releases_;
  std::vector<Kept> kept_;
  std::vector<Settled> removals_;
  std::vector<Raised> raised_;
  std::vector<Asked> asked_;
  std::vector<Claim> forwards_;
  std::optional<Order> barrier_;
  UnixMs last_change_;
  std::uint64_t changes_ = 0;
};

// The targets of the set for which holds(t).
template <typename Holds>
[[nodiscard]] TargetSet those(TargetSet targets, Holds holds) {
  TargetSet found;
  for (const TargetNumber t : targets) {
    if (holds(t)) found |= TargetSet::of(t);
  }
  return found;
}

inline constexpr TargetSet kEveryTarget{(std::uint64_t{1} << kTargets) - 1};

}  // namespace reseq::property
