// What waits: waiting changes when, never what. Each request that is held leaves once, not before its time, in the
// order of the requests, for those that still wait for it; and in the end nothing waits.
#include <algorithm>

#include "tests/property/oracle.h"

namespace reseq::property {

void Oracle::hold(const Entry& entry, const OpenForward& open) {
  require(model_.context.gate != nullptr, "a request is held where there is no gate");
  require(entry.decision.outcome == Outcome::kRegistered && !entry.forward, "a request that is held left as well");
  if (hits_) ++hits_->held;
  const UnixMs end((batch_->now.value() / kWindowMs + 1) * kWindowMs);
  waiting_.push_back({entry.input.position, end, open.document, open.order,
                      std::get<Request>(entry.input.command).what.op, open.targets});
}

// The first of a turn has room whatever it takes; the others share what the batch has room for.
void Oracle::judge_bounds(const BatchRecord& batch) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 1; i < batch.let_through.size(); ++i) bytes += batch.let_through[i].bytes;
  const std::uint64_t first = batch.let_through.empty() ? 0 : batch.let_through.front().bytes;
  require(bytes <= kBatchBytes - std::min(first, kBatchBytes), "more bytes are let through than a batch has room for");
  for (const AgendaDone& done : batch.agenda)
    require(done.rows <= kTurnRows, "more rows are let through than a turn has room for");
  if (hits_ && first > kBatchBytes) ++hits_->left_large;
}

void Oracle::judge_gate(const BatchRecord& batch) {
  latest_now_ = std::max(latest_now_, batch.now);
  judge_bounds(batch);
  std::size_t left = 0;
  for (const LetThrough& one : batch.let_through) {
    judge_let_through(one);
    left += one.forward ? 1 : 0;
  }
  require(batch.generated == left, "other records of the gate than one for each that left");
  std::uint64_t rows = 0;
  for (const AgendaDone& done : batch.agenda) rows += done.rows;
  require(batch.let_through.size() <= rows, "more was let through than the agenda says");
}

void Oracle::judge_let_through(const LetThrough& one) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& waiting) { return waiting.position == one.position; });
  if (found == waiting_.end()) return require(false, "something is let through that was not held, or a second time");
  const Waiting waiting = *found;
  const bool first = std::none_of(waiting_.begin(), found,
                                  [&](const Waiting& earlier) { return earlier.window_end == waiting.window_end; });
  require(first, "a request is let through before an earlier one of its window");
  waiting_.erase(found);
  require(waiting.window_end <= latest_now_, "a request is let through before its time");
  Past& past = pasts_[waiting.document];
  const TargetSet targets = those(waiting.targets, [&](TargetNumber t) {
    return past.newest(t) == waiting.order && past.standing(t) == Standing::kPending;
  });
  const bool gone = one.reference && is_gone(one.position);
  require(one.forward.has_value() == (!targets.empty() && !gone),
          "a held request leaves exactly when somebody waits for it and it is there");
  require(one.dead_letter.has_value() == (!targets.empty() && gone),
          "of a held request that is gone the one who waits is told");
  std::uint32_t events = model_.events == engine::EventPolicy::kAll ? 1 : 0;
  if (model_.events == engine::EventPolicy::kDrops && !one.forward) events = 1;
  require(one.events == events, "events of what is let through do not follow the policy");
  if (one.forward || one.dead_letter) require(one.produced == 1, "a held request is sent twice");
  require(!one.dead_letter || one.gone > 0, "a dead letter of what is gone does not say how large it was");
  if (one.dead_letter) give_up(waiting, targets, *one.dead_letter, past);
  if (!one.forward) return;
  require(one.forward->order == waiting.order && one.forward->op == waiting.op, "another request is let through");
  require(one.forward->targets == targets, "a held request leaves for others than those that wait for it");
  past.forward(waiting.order, targets);
  if (hits_) ++hits_->left_later;
  if (hits_ && targets != waiting.targets) ++hits_->left_for_fewer;
}

// Nobody will work for it, so nobody may wait for a result of it.
void Oracle::give_up(const Waiting& waiting, TargetSet targets, const DeadLetter& letter, Past& past) {
  require(letter.reason == Reason::kBodyGone, "what is gone is given up for another reason");
  require(letter.expected == past.newest_order(), "a dead letter that expects another order");
  for (const TargetNumber t : targets) past.remove({waiting.order, t, Version(0)}, batch_->now);
  if (hits_) ++hits_->gone;
}

void Oracle::judge_nothing_waits(const Rows& rows) {
  require(waiting_.empty(), "a request that was held is lost");
  require(rows.others.all().empty(), "a row of the gate waits for ever");
}

}  // namespace reseq::property
