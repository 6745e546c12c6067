#include "tests/journal/feed.h"

#include <algorithm>
#include <utility>

namespace reseq::journal {
namespace {

// None: what is configured, or all of them.
std::optional<TargetSet> targets_of(const Step& step) {
  const TargetSet targets(step.targets % (1U << kTargets));
  return targets.empty() ? std::nullopt : std::optional(targets);
}

bool is_strange(Action action) {
  switch (action) {
    case Action::kUnregister:
    case Action::kFork:
    case Action::kForkDelete:
    case Action::kRegister:
    case Action::kRegisterDelete:
    case Action::kStrayResult:
    case Action::kStrayUnregister:
    case Action::kExpire:
    case Action::kStrayFail:
    case Action::kResume:
      return true;
    default:
      return false;
  }
}

bool says_what_failed(Action action) {
  return action == Action::kFail || action == Action::kStrayFail || action == Action::kDown;
}

bool changes_when(Action action) {
  return action == Action::kNow || action == Action::kPostpone;
}

}  // namespace

void Feed::write(Input input, std::deque<Input>& to) {
  input.position = position_++;
  if (without_.wishes) {
    input.priority.reset();
    input.process_at.reset();
    input.expires_at.reset();
  }
  to.push_back(std::move(input));
}

void Feed::play(const Step& step) {
  if (without_.strangers && is_strange(step.action)) return;
  if (without_.wishes && changes_when(step.action)) return;
  if (without_.failures && says_what_failed(step.action)) return;
  switch (step.action) {
    case Action::kRequest:
    case Action::kDelete:
      newest_[document_of(step)] += 1 + step.pick % 2U;  // numbers are left out, for late ones
      return write_request(step, newest_[document_of(step)]);
    case Action::kLateRequest:
      return write_late(step);
    case Action::kResend:
    case Action::kReuse:
      return resend(step);
    case Action::kClock:
      return step_clock(step);
    case Action::kBatch: {
      const auto part = [](std::uint8_t amount) { return amount % 4 == 0 ? std::size_t{6} : amount % std::size_t{7}; };
      batches_.push_back({part(step.pick), part(step.amount)});
      return;
    }
    case Action::kExpire:
    case Action::kNow:
    case Action::kPostpone:
      return operate(step);
    case Action::kResume:
      return resume(targets_of(step).value_or(kAllTargets));
    case Action::kRegister:
    case Action::kRegisterDelete:
    case Action::kStrayResult:
    case Action::kStrayUnregister:
    case Action::kStrayFail:
      return stray(step);
    default:
      return command(step);
  }
}

// Dates have passed, lie ahead or lie too far ahead.
void Feed::operate(const Step& step) {
  Input input;
  input.kind = step.action == Action::kExpire ? Kind::kExpire
               : step.action == Action::kNow  ? Kind::kNow
                                              : Kind::kPostpone;
  input.document = document_of(step);
  input.targets = targets_of(step);
  if (input.kind == Kind::kPostpone) input.process_at = UnixMs(now_.value() - 40 + std::int64_t{step.amount} * 2);
  write(input, operations_);
}

void Feed::resume(TargetSet targets) {
  Input input;
  input.kind = Kind::kResume;
  for (const TargetNumber target : targets) {
    input.targets = TargetSet::of(target);
    write(input, operations_);
  }
}

void Feed::step_clock(const Step& step) {
  if (step.flavour % 8 == 7) return move_clock(-std::int64_t{step.amount % 64});
  if (step.flavour % 8 == 6) return move_clock(std::int64_t{step.amount} * 20);
  move_clock(step.amount % 128);
}

void Feed::write_request(const Step& step, OrderNumber order) {
  Input input;
  input.document = document_of(step);
  input.order = order;
  input.targets = targets_of(step);
  input.deletes = step.action == Action::kDelete;
  input.hash = order / 4 * 4 + (input.deletes ? 1 : 0);  // four orders have one content
  wish(step, input);
  log_.push_back(input);
  write(input, requests_);
}

void Feed::wish(const Step& step, Input& input) const {
  constexpr std::array<std::uint8_t, 8> kPriorities = {100, 100, 50, 0, 200, 230, 160, 100};
  const std::int64_t now = now_.value();
  input.timestamp = UnixMs(now - std::int64_t{step.pick / 2 % 8} * 15 + (step.pick % 32 == 31 ? 200 : 0));
  input.priority.reset();
  input.process_at.reset();
  input.expires_at.reset();
  if (step.flavour % 8 != 0) input.priority = kPriorities[step.flavour % 8];
  if (step.flavour / 8 % 4 == 1) input.process_at = UnixMs(now + step.amount % 128);
  if (step.flavour / 8 % 4 == 2) input.process_at = UnixMs(now - 100 + std::int64_t{step.amount} * 2);
  if (!input.deletes && step.flavour / 32 % 4 == 3) input.expires_at = UnixMs(now - 10 + step.pick);
}

void Feed::write_late(const Step& step) {
  const OrderNumber newest = newest_[document_of(step)];
  if (newest > 1) write_request(step, 1 + step.pick % newest);
}

void Feed::resend(const Step& step) {
  if (log_.empty()) return;
  Input input = log_[step.pick % log_.size()];
  if (step.action == Action::kReuse) input.hash += 1'000;
  if (step.flavour % 2 == 1) wish(step, input);
  write(input, requests_);
}

void Feed::stray(const Step& step) {
  Input input;
  input.document = document_of(step);
  input.order = 1 + step.pick % (newest_[input.document] + 2);
  input.targets = targets_of(step);
  if (step.action == Action::kRegister || step.action == Action::kRegisterDelete) {
    // Of what waits a worker knows nothing: an order of its own is above all that were requested.
    input.kind = Kind::kRegister;
    input.deletes = step.action == Action::kRegisterDelete;
    input.order = newest_[input.document] + 1 + step.pick % 2U;
    if (!input.targets && !input.deletes) input.targets = kDefaultTargets;
  } else if (step.action == Action::kStrayUnregister) {
    input.kind = Kind::kUnregister;
  } else if (step.action == Action::kStrayFail) {
    fail(step, input);
    if (input.targets) input.targets = TargetSet::of(input.targets->first());
    input.attempt = step.flavour % 3U;
  } else {
    input.kind = Kind::kResult;
    input.targets = TargetSet::of(TargetNumber(static_cast<std::uint8_t>(step.targets % kTargets)));
    input.attempt = step.flavour % 3U;
  }
  write(input, commands_);
}

// Without a target: all that came with the piece.
void Feed::fail(const Step& step, Input& input) {
  constexpr std::array kKinds = {FailureKind::kTransient, FailureKind::kUnknown, FailureKind::kPermanent,
                                 FailureKind::kTransient};
  input.kind = Kind::kFail;
  input.failure = kKinds[step.flavour % 4U];
  input.scope = step.flavour / 4 % 4 == 3 ? FailureScope::kUniversal : FailureScope::kDocument;
  input.error = step.amount % 2U;
  input.without_effect = step.amount / 2 % 4U == 3;
}

// About a piece of work.
void Feed::command(const Step& step) {
  if (work_.empty()) return;
  const auto found = work_.begin() + static_cast<std::ptrdiff_t>(step.pick % work_.size());
  const Piece piece = *found;
  Input input;
  input.document = piece.document;
  input.order = piece.order;
  input.targets = TargetSet::of(piece.target);
  input.attempt = piece.attempt;
  input.timestamp = UnixMs(now_.value() + step.amount % 64 - 48);
  switch (step.action) {
    case Action::kLose:
      work_.erase(found);
      return;
    case Action::kHeartbeat:
      input.kind = Kind::kHeartbeat;
      break;
    case Action::kUnregister:
      input.kind = Kind::kUnregister;
      if (step.flavour % 4 == 3) input.targets.reset();
      work_.erase(found);
      break;
    case Action::kFail:
      fail(step, input);
      if (step.targets % 4 == 3) input.targets.reset();
      if (step.amount % 4 != 3) work_.erase(found);  // else it is told again, or there is a result after all
      break;
    case Action::kDown:
      fail(step, input);
      input.scope = FailureScope::kUniversal;
      if (step.targets % 4 == 3) input.targets.reset();
      if (step.amount % 8 != 7) work_.erase(found);
      break;
    case Action::kFork:
      input.kind = Kind::kRegister;
      if (const auto targets = targets_of(step)) input.targets = targets;
      break;
    case Action::kForkDelete:
      input.kind = Kind::kRegister;
      input.deletes = true;
      input.targets = targets_of(step);
      break;
    default:
      input.kind = Kind::kResult;
      if (step.flavour % 4 != 3) work_.erase(found);  // else it is sent again
  }
  if (step.flavour % 8 == 5) input.attempt = 0;
  write(input, commands_);
}

std::optional<Batch> Feed::next() {
  if (batches_.empty()) return std::nullopt;
  Batch batch;
  batch.now = now_;
  const std::size_t inputs_max = without_.crowds ? 1 : kInputsMax;
  const Size size = batches_.front();
  const auto move = [&](std::deque<Input>& from, std::size_t most) {
    for (std::size_t i = 0; i < most && !from.empty() && batch.inputs.size() < inputs_max; ++i) {
      batch.inputs.push_back(from.front());
      from.pop_front();
    }
  };
  move(requests_, size.requests);
  move(operations_, kInputsMax);
  move(commands_, size.commands);
  batches_.pop_front();
  return batch;
}

void Feed::take(const Answer& answer) {
  for (const Dispatched& one : answer.dispatched)
    for (const TargetNumber target : one.targets) work_.push_back({one.document, one.order, target, one.attempt});
}

bool Feed::finish() {
  const std::vector<Piece> work = std::exchange(work_, {});
  for (const Piece& piece : work) answer(piece.document, piece.order, piece.target, piece.attempt);
  if (requests_.empty() && operations_.empty() && commands_.empty()) return false;
  want_batch();
  return true;
}

void Feed::answer(std::size_t document, OrderNumber order, TargetNumber target, std::uint32_t attempt) {
  Input input;
  input.kind = Kind::kResult;
  input.document = document;
  input.order = order;
  input.targets = TargetSet::of(target);
  input.attempt = attempt;
  write(input, commands_);
}

}  // namespace reseq::journal
