// The oracle's walk through the history, and what holds for every input.
#include "tests/property/oracle.h"

#include <algorithm>
#include <type_traits>

namespace reseq::property {

void Oracle::observe(const BatchRecord& batch, const Rows& rows) {
  muted_ = judged_ == Judged::kEnd;
  batch_ = &batch;
  state_.floors = batch.before.floors;
  const Version now(static_cast<std::uint64_t>(batch.now.value()) << 16);
  state_.clock = std::max(state_.clock, now);
  bool requests = true;
  for (std::size_t i = 0; i < batch.entries.size() && violation_.empty(); ++i) {
    const Entry& entry = batch.entries[i];
    if (requests && entry.input.log == Log::kCommands) narrow_forwards();
    requests = entry.input.log == Log::kRequests;
    entry_ = &entry;
    judge(entry, i);
    all_.push_back(entry);
  }
  entry_ = nullptr;
  if (requests) narrow_forwards();
  settle_forwards(batch);
  judge_timers(batch);
  judge_gate(batch);
  forget_overdue();
  judge_rows(rows);
  require(batch.after == state_, "the partition state is not what clock, releases and RESETs make it");
}

void Oracle::judge(const Entry& entry, std::size_t index) {
  judge_shape(entry);
  const std::string_view id = id_of(entry.input.command);
  const bool refused = std::holds_alternative<Refused>(entry.input.command);
  if (!id.empty() && !refused) document_ = document_of(id);
  if (!id.empty() && !refused && document_ == kCollider) {
    if (entry.decision.reason == Reason::kDryRun) return;
    return require(entry.decision.outcome == Outcome::kDeadLettered && entry.decision.reason == Reason::kIdCollision,
                   "a document whose hash belongs to another id was decided");
  }
  require(entry.decision.reason != Reason::kIdCollision, "id_collision without a collision");
  std::visit(
      [&](const auto& command) {
        using T = std::decay_t<decltype(command)>;
        if constexpr (std::is_same_v<T, Request>) judge_request(entry, command, index);
        if constexpr (std::is_same_v<T, Register>) judge_register(entry, command);
        if constexpr (std::is_same_v<T, Unregister>) judge_unregister(entry, command);
        if constexpr (std::is_same_v<T, SequenceResult>) judge_result(entry, command);
        if constexpr (std::is_same_v<T, Reset>) judge_reset(entry, command);
        if constexpr (std::is_same_v<T, Expire>) judge_expire(entry, command);
        if constexpr (std::is_same_v<T, ReleaseByHand>) judge_by_hand(entry, command);
        if constexpr (std::is_same_v<T, Refused>) judge_refused(entry, command);
      },
      entry.input.command);
  if (entry.dead_letter && !id.empty() && !refused)
    require(entry.dead_letter->expected == past().newest_order(), "a dead letter that expects another order");
}

// An outcome has exactly the records that it stands for.
void Oracle::judge_shape(const Entry& entry) {
  const Decision& decision = entry.decision;
  const Outcome outcome = decision.outcome;
  const bool forwarded = outcome == Outcome::kForwarded;
  const bool released = outcome == Outcome::kReleased;
  const bool dead_lettered = outcome == Outcome::kDeadLettered;
  const bool redirected = outcome == Outcome::kRedirected;
  require(entry.forward.has_value() == forwarded, "a forward for an outcome that is not forwarded, or none for one");
  require(entry.release.has_value() == released, "a release for an outcome that is not released, or none for one");
  require(entry.dead_letter.has_value() == dead_lettered, "a dead letter for another outcome, or none for one");
  require(entry.redirected == redirected, "a redirect for another outcome, or none for one");
  const std::uint32_t produced = (forwarded || released || dead_lettered || redirected) ? 1 : 0;
  require(entry.produced == produced, "an input with more than one record");
  if (entry.dead_letter) require(entry.dead_letter->reason == decision.reason, "a dead letter with another reason");
  const bool stopped = dead_lettered || redirected || outcome == Outcome::kDropped;
  require((decision.reason != Reason::kNone) == stopped, "stopped without a reason, or a reason without a stop");
  require(outcome != Outcome::kStopped, "an input that was left unread has an outcome");
  if (std::holds_alternative<Expire>(entry.input.command) || std::holds_alternative<ReleaseByHand>(entry.input.command))
    return require(entry.events == 1, "an operation is told of once, whatever the policy");
  std::uint32_t events = model_.events == engine::EventPolicy::kAll ? 1 : 0;
  if (model_.events == engine::EventPolicy::kDrops && (stopped || outcome == Outcome::kUnchanged)) events = 1;
  if (std::holds_alternative<Reset>(entry.input.command)) return;  // its own event besides
  require(entry.events == events, "events do not follow the policy");
}

void Oracle::judge_refused(const Entry& entry, const Refused& refused) {
  Outcome outcome = Outcome::kDeadLettered;
  if (refused.sequence_without_id_or_seq && batch_->on_missing == engine::OnMissing::kRedirect)
    outcome = Outcome::kRedirected;
  require(entry.decision.outcome == outcome, "a refused record did not go where the policy says");
  require(entry.decision.reason == refused.reason, "a refused record lost its reason");
  require(entry.decision.table_row == TableRow::kNone, "a refused record met a decision table");
}

void Oracle::judge_reset(const Entry& entry, const Reset& reset) {
  if (model_.tap() && !model_.context.requests_carry_epochs)
    return require(entry.decision.reason == Reason::kResetNeedsEpochs, "RESET in tap without epochs was not refused");
  require(entry.decision.outcome == Outcome::kApplied, "RESET was not applied");
  state_.default_epoch = std::max(state_.default_epoch, reset.default_epoch);
}

// Of a command: true if it may be compared with the row at all.
bool Oracle::judge_epoch(const Entry& entry, const std::optional<Epoch>& epoch) {
  const bool missing = !epoch && (state_.default_epoch != Epoch(0) || past().any_epoch());
  const bool said = entry.decision.reason == Reason::kEpochMissing;
  require(missing == said, "epoch_missing exactly when an epoch is known and the command has none");
  if (said) require(entry.decision.outcome == Outcome::kDeadLettered, "epoch_missing is a dead letter");
  return !missing;
}

void Oracle::judge_policy(const Entry& entry, Reason reason, engine::OnUnregistered policy) {
  const Outcome outcome = policy == engine::OnUnregistered::kDrop ? Outcome::kDropped : Outcome::kDeadLettered;
  require(entry.decision.reason == reason, "another reason than the history gives");
  require(entry.decision.outcome == outcome, "the policy was not followed");
}

void Oracle::require_reason(const Entry& entry, Outcome outcome, Reason reason, bool holds,
                            std::string_view otherwise) {
  require(entry.decision.outcome == outcome && entry.decision.reason == reason, "an outcome that its reason never has");
  require(holds, otherwise);
}

void Oracle::require(bool holds, std::string_view otherwise) {
  if (holds || muted_ || !violation_.empty()) return;
  violation_ = std::string(otherwise);
  if (entry_) violation_ += "\n  " + describe(*entry_);
}

}  // namespace reseq::property
