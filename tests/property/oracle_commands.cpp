// What a result or an UNREGISTER says about itself: a release is due or does not happen, and whatever is stopped is
// stopped for a reason that the history bears out.
#include <algorithm>

#include "tests/property/oracle.h"

namespace reseq::property {
namespace {

bool is_row(const Entry& entry, TableRow row) {
  return entry.decision.table_row == row;
}

}  // namespace

// Told from the row alone: which targets have been at this order, and the last list of the newest requested order.
bool Oracle::may_be_copied(TargetSet named, const Order& order) const {
  const Past& before = past();
  if (model_.tap() || (before.holds(order) && named.covers(before.known_at(order)))) return true;
  const bool had_all =
      those(named, [&](TargetNumber t) { return before.newest(t) && *before.newest(t) >= order; }) == named;
  if (!had_all) return false;
  const auto asked = before.newest_asked();
  if (!asked || asked->order < order) return false;
  const TargetSet last = asked->order == order ? before.last_list(order) : TargetSet();
  return named == last || (named & last).empty();
}

void Oracle::judge_unregister(const Entry& entry, const Unregister& command) {
  if (!judge_epoch(entry, command.epoch)) return;
  const Order order{command.epoch.value_or(Epoch(0)), command.sequence, command.revision};
  const Past& before = past();
  const TargetSet named = command.everything ? before.with(Standing::kPending, order) : command.targets;
  const bool group = before.holds(order);
  const bool below = before.below_barrier(order);
  const auto newest = [&](TargetNumber t) { return before.newest(t); };
  const TargetSet pending = named & before.with(Standing::kPending, order);
  const TargetSet settled = named & (before.with(Standing::kServed, order) | before.with(Standing::kRemoved, order));
  const TargetSet newer = those(named, [&](TargetNumber t) { return newest(t) && *newest(t) > order; });
  const TargetSet unknown = named.without(pending | settled | newer);
  const TargetSet sticks = group ? unknown : TargetSet();
  const TargetSet removable = below ? TargetSet() : pending | sticks;
  const bool copied = command.from_list && !removable.empty() && may_be_copied(named, order);
  require(copied == (entry.decision.reason == Reason::kAmbiguousTargets),
          "ambiguous_targets exactly for a list that may be one of `work`");
  require(copied || !command.from_list || removable.empty() || !before.was_list(order, named),
          "a list copied from `work` was taken as it says");
  if (copied) return require(entry.decision.outcome == Outcome::kDeadLettered, "ambiguous_targets is a dead letter");
  if (entry.decision.outcome == Outcome::kRemoved) {
    require(!removable.empty(), "removed, but no target of it waits there or could stick");
    require(is_row(entry, pending.empty() ? TableRow::kU3 : TableRow::kU1), "removed by another row of the table");
    require(entry.requests_read || sticks.empty(), "a removal that sticks before requests were read to their end");
    for (const TargetNumber t : removable) past().remove({order, t, {}}, batch_->now);
    return;
  }
  require(removable.empty(), "an UNREGISTER of a target that waits was stopped");
  const bool behind =
      below || !newer.empty() || (command.everything && !group && before.exists() && order < *before.newest_order());
  switch (entry.decision.reason) {
    case Reason::kDuplicate:
      return require_reason(entry, Outcome::kDropped, Reason::kDuplicate,
                            command.everything ? group : !below && !settled.empty(),
                            "duplicate, but nothing of it was released or removed");
    case Reason::kSuperseded:
      require(entry.requests_read || below || !command.everything,
              "a star is superseded by other targets before requests were read to their end");
      return require_reason(entry, Outcome::kDropped, Reason::kSuperseded, behind && (below || settled.empty()),
                            "superseded, but nothing newer is known");
    case Reason::kUnregistered:
      require(entry.requests_read, "unregistered, but requests were not read to their end");
      require(!behind && settled.empty() && !group, "unregistered, but the order is known");
      return judge_policy(entry, Reason::kUnregistered, model_.context.policies.on_unregistered);
    default:
      require(false, "a reason that no UNREGISTER has");
  }
}

// A starving target gets no older revision of the request that it waits for: somebody asked for that one to be
// processed again.
bool Oracle::takes_rising(TargetNumber t, const Order& order) const {
  if (model_.context.monotonic.contains(t)) return true;
  if (same_request(*past().newest(t), order)) return false;
  const std::int64_t limit = model_.context.starvation_after.value();
  if (limit == 0 || past().standing(t) != Standing::kPending || order < past().wait_began(t)) return false;
  return batch_->now.value() - past().waits_since(t).value() >= limit;
}

// The result is of the order that its target waits for, or of an older one that a monotonic or starving target takes
// meanwhile.
bool Oracle::may_release(const SequenceResult& result, const Order& order) const {
  const Past& before = past();
  const TargetNumber t = result.target;
  if (before.below_barrier(order) || !before.newest(t)) return false;
  if (*before.newest(t) == order) return before.standing(t) == Standing::kPending;
  if (*before.newest(t) < order || !takes_rising(t, order) || before.standing(t) != Standing::kPending) return false;
  return !before.last_release(t) || *before.last_release(t) < order;
}

std::uint64_t Oracle::floor_of(TargetNumber t) const {
  const auto own = state_.floors.by_target.find(t);
  return std::max(state_.floors.global.value(), own == state_.floors.by_target.end() ? 0 : own->second.value());
}

std::uint64_t Oracle::next_stamp(const SequenceResult& result) const {
  const std::uint64_t observed = result.observed.value_or(Version(0)).value();
  return std::max({state_.clock.value(), floor_of(result.target), observed, state_.last.value()}) + 1;
}

void Oracle::judge_release(const Entry& entry, const SequenceResult& result, const Order& order) {
  const Release& release = *entry.release;
  const TargetNumber t = result.target;
  require(may_release(result, order), "a result was released that its target does not wait for");
  require(!past().released(t, order), "released twice");
  require(!past().last_release(t) || *past().last_release(t) < order, "a release older than the last one");
  require(result.output_bytes <= kBytesMax, "a result was released that its output cannot take");
  require(release.target == t && release.order == order && release.op == result.op, "a release of something else");
  require(!observed_too_high(result), "released above a version that nobody can have read");
  require(release.version.value() > state_.last.value(), "versions do not rise");
  require(release.version.value() < kVersionLimit, "a version that is no signed 64-bit number");
  require(release.version.value() == next_stamp(result), "a stamp that clock, floor, observed and last do not give");
  const bool newest = past().newest(t) == order;
  const bool by_table = is_row(entry, newest ? TableRow::kS1 : TableRow::kS4);
  require(by_table, "released by another row of the table");
  if (hits_ && !newest) ++hits_->monotonic_releases;
  past().release({order, t, release.version, release.op}, batch_->now);
  state_.last = release.version;
}

void Oracle::judge_version_refusal(const Entry& entry, const SequenceResult& result) {
  if (entry.decision.reason == Reason::kVersionExhausted)
    return require(next_stamp(result) >= kVersionLimit, "version_exhausted, but there is a version left");
  require(observed_too_high(result), "observed_version_too_high, but it is within the drift");
}

bool Oracle::observed_too_high(const SequenceResult& result) const {
  const std::uint64_t now = static_cast<std::uint64_t>(batch_->now.value()) << 16;
  const std::uint64_t drift = static_cast<std::uint64_t>(kDriftMs) << 16;
  return result.observed && result.observed->value() > std::max(now, floor_of(result.target)) + drift;
}

void Oracle::judge_result(const Entry& entry, const SequenceResult& result) {
  if (!judge_epoch(entry, result.epoch)) return;
  const Order order{result.epoch.value_or(Epoch(0)), result.sequence, result.revision};
  if (entry.release) return judge_release(entry, result, order);
  const Past& before = past();
  const TargetNumber t = result.target;
  const auto& newest = before.newest(t);
  const bool due = may_release(result, order);
  const bool below = before.below_barrier(order);
  const bool behind = below || (newest && *newest > order);
  const bool here = !below && newest == order;
  const bool stranger = !below && !newest && before.holds(order);  // a target that this order never had
  const engine::Policies& policies = model_.context.policies;
  switch (entry.decision.reason) {
    case Reason::kTooLarge:
      require_reason(entry, Outcome::kDeadLettered, Reason::kTooLarge, due && result.output_bytes > kBytesMax,
                     "too_large, but the output takes it or it was not due");
      if (here) past().remove({order, t, {}}, batch_->now);
      return;
    case Reason::kObservedVersionTooHigh:
    case Reason::kVersionExhausted:
      require(due && entry.decision.outcome == Outcome::kDeadLettered, "refused for its version, but it was not due");
      return judge_version_refusal(entry, result);
    case Reason::kSuperseded:
      return require_reason(entry, Outcome::kDropped, Reason::kSuperseded, behind && !due && before.live(),
                            "superseded, but nothing newer is known or it is due");
    case Reason::kStale:
      return require_reason(entry, Outcome::kDropped, Reason::kStale, behind && !due && !before.live(),
                            "stale, but its document is not completed beyond it");
    case Reason::kDuplicate:
      return require_reason(entry, Outcome::kDropped, Reason::kDuplicate, here && before.released(t, order),
                            "duplicate, but it was not released before");
    case Reason::kUnregisteredTarget:
      require((here && before.given_up(t, order)) || (stranger && entry.requests_read),
              "unregistered_target, but it was neither given up nor never registered");
      return judge_policy(entry, Reason::kUnregisteredTarget, policies.on_unregistered_target);
    case Reason::kUnregistered:
      require(!behind && !here && !stranger, "unregistered, but the order is known");
      require(entry.requests_read, "unregistered, but requests were not read to their end");
      return judge_policy(entry, Reason::kUnregistered, policies.on_unregistered);
    default:
      require(false, "a reason that no result has");
  }
}

}  // namespace reseq::property
