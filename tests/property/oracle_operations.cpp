// What operators do: an operation says truly what it found, a dry run changes nothing, and what is released by hand is
// as new as anything that is known.
#include "tests/property/oracle.h"

namespace reseq::property {

bool Oracle::judge_expected(const Entry& entry, const std::optional<ExpectedRequest>& expected) {
  const auto newest = past().newest_order();
  const bool holds =
      !expected || (newest && newest->epoch == expected->epoch && newest->sequence == expected->sequence);
  require(holds != (entry.decision.reason == Reason::kUnexpectedState),
          "unexpected_state exactly when another request is the newest");
  if (!holds) require(entry.decision.outcome == Outcome::kDropped, "unexpected_state is dropped");
  return holds;
}

bool Oracle::judge_dry_run(const Entry& entry, bool dry_run) {
  require(dry_run == (entry.decision.reason == Reason::kDryRun), "dry_run exactly for a dry run");
  if (dry_run) require(entry.decision.outcome == Outcome::kDropped, "a dry run that is not dropped");
  return dry_run;
}

void Oracle::judge_expire(const Entry& entry, const Expire& command) {
  if (judge_dry_run(entry, command.dry_run)) return;
  if (!past().exists())
    return require(entry.decision.outcome == Outcome::kDropped && entry.decision.reason == Reason::kUnregistered,
                   "a document that nobody knows was expired");
  if (!judge_expected(entry, command.expected)) return;
  const TargetSet pending = past().with(Standing::kPending);
  const TargetSet named = command.targets.empty() ? pending : pending & command.targets;
  if (named.empty())
    return require_reason(entry, Outcome::kDropped, Reason::kNoChange, true, "no_change, but something was pending");
  require(entry.decision.outcome == Outcome::kApplied, "something was pending and was not expired");
  for (const TargetNumber t : named) past().remove({*past().newest(t), t, {}}, batch_->now);
}

void Oracle::judge_by_hand(const Entry& entry, const ReleaseByHand& command) {
  if (judge_dry_run(entry, command.dry_run)) return;
  const SequenceResult& result = command.result;
  if (!judge_epoch(entry, result.epoch) || !judge_expected(entry, command.expected)) return;
  const Order order{result.epoch.value_or(Epoch(0)), result.sequence, result.revision};
  const TargetNumber t = result.target;
  const Past& before = past();
  const std::optional<Order> highest = before.newest_order();
  const bool requested = before.newest(t) && order <= *highest;
  if (!requested && !before.below_barrier(order) && !command.unknown)
    return require_reason(entry, Outcome::kDropped, Reason::kUnregistered, true, "nothing as new was requested");
  const auto& newest = before.newest(t);
  const bool behind = before.below_barrier(order) || (newest && *newest > order);
  const bool waits = newest == order && before.standing(t) == Standing::kPending;
  const bool served = newest == order && before.standing(t) == Standing::kServed;
  if (behind || waits || served) return judge_result(entry, result);
  if (entry.release) return judge_forced(entry, result, order);
  require(entry.decision.outcome == Outcome::kDeadLettered, "a release by hand was stopped without a dead letter");
  if (entry.decision.reason == Reason::kTooLarge)
    return require(result.output_bytes > kBytesMax, "too_large, but the output takes it");
  judge_version_refusal(entry, result);
}

// Nothing newer is known, and nobody waited for it.
void Oracle::judge_forced(const Entry& entry, const SequenceResult& result, const Order& order) {
  const Release& release = *entry.release;
  const TargetNumber t = result.target;
  require(!past().released(t, order), "released twice");
  require(!past().last_release(t) || *past().last_release(t) < order, "a release older than the last one");
  require(result.output_bytes <= kBytesMax, "a result was released that its output cannot take");
  require(release.target == t && release.order == order && release.op == result.op, "a release of something else");
  require(release.version.value() == next_stamp(result) && release.version.value() < kVersionLimit,
          "a stamp that clock, floor, observed and last do not give");
  require(!observed_too_high(result), "released above a version that nobody can have read");
  past().claim({order, TargetSet::of(t), false}, batch_->now);
  past().release({order, t, release.version, release.op}, batch_->now);
  state_.last = release.version;
  if (hits_) ++hits_->forced_releases;
}

}  // namespace reseq::property
