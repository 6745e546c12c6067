#include "tests/orders/world.h"

#include <algorithm>

namespace reseq::orders {
namespace {

constexpr std::uint64_t kOrdersApart = 4;  // so much room is left for requests that are late

TargetSet targets_of(std::uint8_t byte) {
  constexpr std::array<std::uint64_t, 8> kSets = {7, 7, 7, 6, 2, 4, 3, 5};
  return TargetSet(kSets[byte % kSets.size()]);
}

TargetNumber ordered_of(std::uint8_t byte) {
  return byte % 2 == 0 ? kStrict : kTotal;
}

}  // namespace

std::string World::play() {
  for (const Step& step : history_) {
    play(step);
    if (!violation_.empty()) return story_ + violation_;
  }
  finish();
  return violation_.empty() ? "" : story_ + violation_;
}

void World::play(const Step& step) {
  const std::size_t document = step.document % kDocuments;
  switch (step.action) {
    case Action::kRequest:
    case Action::kDelete:
    case Action::kLate:
      return request(step);
    case Action::kAnswer:
      if (!work_.empty()) answer(take_work(step.pick), step.amount % 32 == 31);
      return;
    case Action::kLose:
      if (!work_.empty()) (void)take_work(step.pick);
      return;
    case Action::kBatch:
      return run_batch(step.pick % 3 == 0);
    case Action::kClock:
      now_ = UnixMs(now_.value() + std::int64_t{step.amount} * 10);
      return;
    case Action::kResend:
    case Action::kReuse:
      return resend(step);
    case Action::kUnregister:
      return unregister(step);
    case Action::kStray:
      return stray(step);
    case Action::kRegister:
      commands_.push_back({Kind::kRegister, document, newest_[document] + 1, TargetSet::of(ordered_of(step.pick))});
      return;
    case Action::kSkip:
      return skip(step);
    case Action::kReprocess:
      return reprocess(step);
    default:
      operations_.push_back({Kind::kExpire, document, 0, {}});
  }
}

void World::request(const Step& step) {
  Input input;
  input.document = step.document % kDocuments;
  OrderNumber& newest = newest_[input.document];
  if (step.action == Action::kLate && newest > 0) {
    input.order = newest - std::min<OrderNumber>(newest - 1, 1U + step.pick % (2 * kOrdersApart));
  } else {
    newest += kOrdersApart;
    input.order = newest;
  }
  input.targets = targets_of(step.targets);
  input.deletes = step.action == Action::kDelete;
  input.has_list = step.amount % 2 == 0;
  if (!input.has_list) input.targets = kAllTargets;
  input.hash = 1U + step.pick % 2U;
  requests_.push_back(input);
}

Released World::take_work(std::size_t pick) {
  const auto at = work_.begin() + static_cast<std::ptrdiff_t>(pick % 2 == 0 ? 0 : pick / 2 % work_.size());
  const Released one = *at;
  work_.erase(at);
  return one;
}

void World::answer(const Released& work, bool too_large) {
  Input input{Kind::kResult, work.document, work.order, TargetSet::of(work.target)};
  input.too_large = too_large;
  commands_.push_back(input);
}

void World::unregister(const Step& step) {
  if (work_.empty()) return;
  const Released work = work_[step.pick % work_.size()];
  Input input{Kind::kUnregister, work.document, work.order, TargetSet::of(work.target)};
  if (step.amount % 4 == 0) input.targets = TargetSet();
  if (step.amount % 4 == 1) input.targets = targets_of(step.targets);
  commands_.push_back(input);
}

// Of something that may be waited for, or of any order; some are said once more.
void World::skip(const Step& step) {
  const std::size_t document = step.document % kDocuments;
  Input input{Kind::kSkip, document, 1 + step.pick % (newest_[document] + 2), TargetSet::of(ordered_of(step.targets))};
  if (step.amount % 4 != 0 && !work_.empty()) {
    const Released& work = work_[step.pick % work_.size()];
    input.document = work.document;
    input.order = work.order;
  }
  if (step.amount % 4 == 1 && !old_skips_.empty()) input = old_skips_[step.pick % old_skips_.size()];
  old_skips_.push_back(input);
  operations_.push_back(input);
}

// Only what the target without a lane has not as its newest: a new revision of that is for it alone.
void World::reprocess(const Step& step) {
  Input input{Kind::kRequest, step.document % kDocuments, 0, targets_of(step.targets)};
  input.order = 1 + step.pick % (newest_[input.document] + 1);
  input.hash = 1;
  input.reprocess = true;
  for (auto old = old_requests_.rbegin(); step.amount % 4 != 0 && old != old_requests_.rend(); ++old) {
    if (old->document != input.document) continue;
    input = *old;
    input.reprocess = true;
    break;
  }
  const auto is_it = [&](const Input& other) { return other.document == input.document && other.order == input.order; };
  const bool is_newest = table_.newest(input.document) == input.order;
  if (!is_newest && std::none_of(requests_.begin(), requests_.end(), is_it)) requests_.push_back(input);
}

void World::stray(const Step& step) {
  const std::size_t document = step.document % kDocuments;
  const OrderNumber order = 1 + step.pick % (newest_[document] + 2);
  Input input{step.amount % 2 == 0 ? Kind::kResult : Kind::kUnregister, document, order,
              TargetSet::of(TargetNumber(static_cast<std::uint8_t>(step.targets % kTargets)))};
  if (input.kind == Kind::kUnregister && step.amount % 8 == 1) input.targets = TargetSet();
  commands_.push_back(input);
}

void World::resend(const Step& step) {
  const bool of_request = step.action == Action::kReuse || step.amount % 2 == 0;
  const std::vector<Input>& old = of_request ? old_requests_ : old_results_;
  if (old.empty()) return;
  Input input = old[old.size() - 1 - step.pick % std::min<std::size_t>(old.size(), 8)];
  if (step.action == Action::kReuse) input.hash += 10;
  input.reprocess = false;  // reprocess() does those
  (of_request ? requests_ : commands_).push_back(input);
}

void World::run_batch(bool fenced) {
  Batch batch{now_, fenced, {}};
  for (std::vector<Input>* inputs : {&requests_, &operations_, &commands_}) {
    for (Input& input : *inputs) {
      input.position = position_++;
      batch.inputs.push_back(input);
      if (inputs == &requests_) old_requests_.push_back(input);
      if (input.kind == Kind::kResult) old_results_.push_back(input);
    }
    inputs->clear();
  }
  const Answer answer = table_.play(batch);
  story_ += describe(batch, answer);
  for (const Forwarded& one : answer.forwarded)
    for (const TargetNumber target : one.targets) work_.push_back({one.document, one.order, target});
  judge(batch, answer);
  if (rival_ == nullptr || !violation_.empty()) return;
  const Answer rivals = rival_->play(batch);
  violation_ = difference(answer, rivals);
  if (!violation_.empty()) story_ += "the rival: " + describe(batch, rivals);
}

// What holds of the releases whoever made them: each once, in the order of its lane.
void World::judge(const Batch& batch, const Answer& answer) {
  for (const Forwarded& one : answer.forwarded)
    if (one.targets.contains(kTotal)) requested_.emplace(std::pair(one.document, one.order), requested_.size());
  std::map<std::pair<TargetNumber, std::size_t>, std::size_t> skipped;
  for (const Released& one : answer.skipped) ++skipped[{one.target, one.target == kTotal ? 0 : one.document}];
  for (const Released& one : answer.released) {
    if (one.target == kNewest) continue;
    auto& lane = released_[{one.target, one.target == kTotal ? 0 : one.document}];
    const bool rises =
        lane.empty() || (one.target == kStrict ? lane.back().order < one.order
                                               : requested_.at({lane.back().document, lane.back().order}) <
                                                     requested_.at({one.document, one.order}));
    if (!rises && violation_.empty()) violation_ = "released out of the order of its lane, or twice";
    lane.push_back(one);
    if (hits_ != nullptr) ++hits_->released;
  }
  if (hits_ == nullptr) return;
  hits_->skipped += answer.skipped.size();
  for (const auto& [lane, count] : skipped) hits_->skipped_together += count > 1 ? 1U : 0U;
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
    hits_->held += answer.verdicts[i].outcome == Outcome::kHeld ? 1U : 0U;
    const bool may_end = batch.inputs[i].kind == Kind::kUnregister || batch.inputs[i].kind == Kind::kSkip;
    const Outcome outcome = answer.verdicts[i].outcome;
    hits_->ended += may_end && (outcome == Outcome::kRemoved || outcome == Outcome::kApplied) ? 1U : 0U;
  }
}

// Half of what is still to be answered comes, the rest was lost: nothing may wait for ever.
void World::finish() {
  run_batch(false);
  for (bool comes = true; !work_.empty() && violation_.empty(); comes = !comes) {
    const Released work = take_work(1);
    if (comes) answer(work, false);
  }
  constexpr int kRounds = 6;  // a head that is waited for may have been held up by another one
  std::size_t places = 1;
  for (int round = 0; round < kRounds && places > 0 && violation_.empty(); ++round) {
    now_ = UnixMs(now_.value() + kGapMs + kPatienceMs);
    run_batch(true);
    places = 0;
    for (const Released& one : table_.waiting()) places += one.target == kNewest ? 0U : 1U;
  }
  if (violation_.empty() && places > 0) violation_ = "something waits for ever";
}

}  // namespace reseq::orders
