// What the history of one document says.
#include "tests/property/past.h"

#include <algorithm>

namespace reseq::property {

void Past::claim(const Claim& claim, UnixMs now) {
  ++changes_;
  claims_.push_back(claim);
  for (const TargetNumber t : claim.targets) {
    Target& target = of(t);
    const bool waits = target.standing == Standing::kPending;
    if (!waits) target.waits_since = target.gets_nothing_since = now;
    const bool anew =
        waits && (claim.order.epoch != target.newest->epoch || claim.order.sequence == target.newest->sequence);
    if (!waits || anew) target.wait_began = claim.order;
    target.standing = Standing::kPending;
    target.newest = claim.order;
  }
  forget_left_orders();
}

void Past::release(const Settled& settled, UnixMs now) {
  ++changes_;
  last_change_ = now;
  releases_.push_back(settled);
  Target& target = of(settled.target);
  target.last_release = settled.order;
  target.gets_nothing_since = std::max(target.waits_since, now);
  target.deleted_at = settled.op == Op::kDelete ? std::optional(now) : std::nullopt;
  if (target.newest == settled.order) target.standing = Standing::kServed;
  forget_left_orders();
}

void Past::keep(const Order& order, TargetSet targets, Digest content, UnixMs now) {
  ++changes_;
  last_change_ = now;
  claims_.push_back({order, targets, true});
  for (const TargetNumber t : targets) {
    Target& target = of(t);
    kept_.push_back({order, t, *target.last_release, content});
    target.newest = target.last_release = order;
  }
  forget_left_orders();
}

void Past::remove(const Settled& settled, UnixMs now) {
  ++changes_;
  last_change_ = now;
  removals_.push_back(settled);
  Target& target = of(settled.target);
  target.newest = settled.order;
  target.standing = Standing::kRemoved;
  forget_left_orders();
}

void Past::ask(const Asked& asked) {
  ++changes_;
  asked_.push_back(asked);
}

UnixMs Past::gets_nothing_since() const {
  UnixMs longest = UnixMs(INT64_MAX);
  for (const TargetNumber t : with(Standing::kPending)) longest = std::min(longest, gets_nothing_since(t));
  return longest;
}

void Past::forget_left_orders() {
  for (Asked& each : asked_) each.remembered = each.remembered && holds(each.order);
}

void Past::raise_barrier(const Order& order, UnixMs now) {
  if (barrier_ && *barrier_ >= order) return;
  ++changes_;
  barrier_ = order;
  raised_.push_back({order, releases_.size()});
  last_change_ = now;
}

bool Past::released(TargetNumber t, const Order& order) const {
  const auto is_it = [&](const auto& each) { return each.target == t && each.order == order; };
  return std::any_of(releases_.begin(), releases_.end(), is_it) || std::any_of(kept_.begin(), kept_.end(), is_it);
}

Digest Past::content_asked(const Order& order) const {
  std::optional<Digest> content;
  for (const Asked& each : asked_) {
    if (each.order != order) continue;
    if (content && *content != each.content) return {};
    content = each.content;
  }
  return content.value_or(Digest());
}

bool Past::given_up(TargetNumber t, const Order& order) const {
  return std::any_of(removals_.begin(), removals_.end(),
                     [&](const Settled& each) { return each.target == t && each.order == order; });
}

bool Past::given_up_from(TargetNumber t, const Order& order) const {
  return std::any_of(removals_.begin(), removals_.end(),
                     [&](const Settled& each) { return each.target == t && each.order >= order; });
}

std::optional<Order> Past::newest_order() const {
  std::optional<Order> newest;
  for (const Target& target : targets_)
    if (target.newest && (!newest || *newest < *target.newest)) newest = target.newest;
  return newest;
}

bool Past::holds(const Order& order) const {
  return !known_at(order).empty();
}

TargetSet Past::with(Standing standing) const {
  return those(kEveryTarget, [&](TargetNumber t) { return of(t).standing == standing; });
}

TargetSet Past::with(Standing standing, const Order& order) const {
  return those(with(standing), [&](TargetNumber t) { return of(t).newest == order; });
}

TargetSet Past::known() const {
  return those(kEveryTarget, [&](TargetNumber t) { return of(t).newest.has_value(); });
}

TargetSet Past::known_at(const Order& order) const {
  return those(kEveryTarget, [&](TargetNumber t) { return of(t).newest == order || of(t).last_release == order; });
}

bool Past::asked_for(const Order& order, Digest content) const {
  return std::any_of(asked_.begin(), asked_.end(),
                     [&](const Asked& each) { return each.order == order && each.content == content; });
}

bool Past::asked(const Order& order) const {
  return std::any_of(asked_.begin(), asked_.end(),
                     [&](const Asked& each) { return each.remembered && each.order == order; });
}

std::optional<Asked> Past::newest_asked() const {
  std::optional<Asked> newest;
  for (const Asked& each : asked_)
    if (!newest || newest->order <= each.order) newest = each;
  return newest;
}

TargetSet Past::last_list(const Order& order) const {
  TargetSet last;
  for (const Claim& each : forwards_)
    if (each.order == order) last = each.targets;
  return last;
}

bool Past::was_list(const Order& order, TargetSet targets) const {
  return std::any_of(forwards_.begin(), forwards_.end(),
                     [&](const Claim& each) { return each.order == order && each.targets == targets; });
}

bool Past::any_epoch() const {
  const Epoch none{0};
  return (barrier_ && barrier_->epoch != none) ||
         std::any_of(targets_.begin(), targets_.end(),
                     [&](const Target& each) { return each.newest && each.newest->epoch != none; });
}

}  // namespace reseq::property
