// What the pipeline writes.
#include "tests/property/pipeline.h"

#include <algorithm>
#include <utility>

#include "tests/property/past.h"

namespace reseq::property {

void Pipeline::take(const Piece& piece, TargetSet targets) {
  seen_.push_back(piece);
  for (const TargetNumber t : targets) {
    waiting_.push_back(piece);
    waiting_.back().target = t;
    waiting_.back().list = targets;
  }
}

void Pipeline::take(std::size_t document, const Forward& work) {
  take({document, work.order.epoch, work.order, {}, work.op, {}}, work.targets);
}

void Pipeline::take(const Request& request) {
  const Registration& what = request.what;
  const TargetSet targets = what.targets.value_or(model_.context.all_targets);
  const Order order{what.epoch.value_or(Epoch(0)), what.sequence, what.revision};
  take({document_of(what.id), what.epoch, order, {}, what.op, {}}, targets);
}

void Pipeline::play(const Step& step, const Surroundings& around) {
  switch (step.action) {
    case Action::kDeliver:
      return deliver(step, around);
    case Action::kLose:
      return lose(step);
    case Action::kUnregister:
      return unregister(step);
    case Action::kFork:
      return fork(step);
    case Action::kRegister:
      return register_order(step, around);
    case Action::kStrayResult:
      return stray_result(step);
    case Action::kStrayUnregister:
      return stray_unregister(step);
    case Action::kExpire:
      return expire(step);
    case Action::kByHand:
      return release_by_hand(step);
    default:
      return;
  }
}

bool Pipeline::deliver_all(std::uint8_t start) {
  if (waiting_.empty()) return false;
  const auto first = waiting_.begin() + start % static_cast<std::ptrdiff_t>(waiting_.size());
  std::rotate(waiting_.begin(), first, waiting_.end());
  if (start % 2 == 1) std::reverse(waiting_.begin(), waiting_.end());
  for (const Piece& piece : waiting_) logs_.write(Log::kCommands, result_of(piece));
  waiting_.clear();
  return true;
}

SequenceResult Pipeline::result_of(const Piece& piece) const {
  SequenceResult result;
  result.id = kIds[piece.document];
  result.epoch = piece.epoch;
  result.sequence = piece.order.sequence;
  result.revision = piece.order.revision;
  result.target = piece.target;
  result.op = piece.op;
  result.output_bytes = 100;
  return result;
}

void Pipeline::deliver(const Step& step, const Surroundings& around) {
  if (waiting_.empty()) return;
  const std::size_t index = step.pick % waiting_.size();
  SequenceResult result = result_of(waiting_[index]);
  const bool badly = step.flavour >= 225;
  if (badly) deliver_badly(result, step);
  observe(result, step, around);
  logs_.write(Log::kCommands, result);
  const bool once = step.flavour < 160 && !result.observed;
  if (once) waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Pipeline::observe(SequenceResult& result, const Step& step, const Surroundings& around) const {
  const std::uint64_t clock = static_cast<std::uint64_t>(around.now.value()) << 16;
  const std::uint64_t last = around.state.last.value();
  if (step.targets < 240) return;
  switch (step.targets % 4) {
    case 0:
      result.observed = Version(last);
      break;
    case 1:
      result.observed = Version(last + step.amount);
      break;
    case 2:
      result.observed = Version(clock + (static_cast<std::uint64_t>(kDriftMs / 2) << 16));
      break;
    default:
      result.observed = Version(std::max(clock, last) + (std::uint64_t{1'000'000} << 16));
      break;
  }
}

void Pipeline::deliver_badly(SequenceResult& result, const Step& step) const {
  const auto other = (result.target.value() + 1U) % model_.targets;
  switch (step.amount % 4) {
    case 0:
      result.output_bytes = kTooManyBytes;
      break;
    case 1:
      result.epoch.reset();
      break;
    case 2:
      result.target = TargetNumber(static_cast<std::uint8_t>(other));
      break;
    default:
      result.sequence = sequence_of(step.amount / 4U);
      break;
  }
}

void Pipeline::lose(const Step& step) {
  if (waiting_.empty()) return;
  const auto piece = waiting_.begin() + step.pick % static_cast<std::ptrdiff_t>(waiting_.size());
  lost_.push_back({piece->document, piece->order, piece->target});
  waiting_.erase(piece);
}

void Pipeline::unregister(const Step& step) {
  if (waiting_.empty()) return;
  const Piece piece = waiting_[step.pick % waiting_.size()];
  Unregister command;
  command.id = kIds[piece.document];
  command.epoch = piece.epoch;
  command.sequence = piece.order.sequence;
  command.revision = piece.order.revision;
  command.everything = step.flavour % 4 == 1;
  command.from_list = step.flavour % 4 >= 2;
  if (!command.everything) command.targets = TargetSet::of(piece.target);
  if (step.flavour % 4 == 3) command.targets = piece.list;
  logs_.write(Log::kCommands, command);
  if (step.amount % 4 == 0) logs_.write(Log::kCommands, command);
  if (command.from_list || step.amount % 2 == 0) return;
  std::erase_if(waiting_, [&](const Piece& each) {
    const bool given_up = each.document == piece.document && each.order == piece.order &&
                          (command.everything || each.target == piece.target);
    // An UNREGISTER without epoch may be refused, and in tap it may be decided before the request it speaks of.
    if (given_up && (model_.tap() || !piece.epoch)) lost_.push_back({each.document, each.order, each.target});
    return given_up;
  });
}

void Pipeline::write_register(const Piece& piece, std::optional<TargetSet> targets, const Step& step) {
  Register command;
  command.what.id = kIds[piece.document];
  command.what.epoch = piece.epoch;
  command.what.sequence = piece.order.sequence;
  command.what.revision = piece.order.revision;
  command.what.op = piece.op;
  command.what.targets = targets;
  if (step.flavour % 2 == 1) command.what.headers = routing_headers();
  logs_.write(Log::kCommands, command);
  if (step.flavour % 4 == 3) logs_.write(Log::kCommands, command);
  take(piece, targets.value_or(model_.context.all_targets));
}

void Pipeline::fork(const Step& step) {
  if (seen_.empty()) return;
  const std::size_t from_end = step.pick % std::min<std::size_t>(seen_.size(), 6);
  const Piece piece = seen_[seen_.size() - 1 - from_end];
  const TargetSet named(step.targets & model_.context.all_targets.bits());
  write_register(piece, named.empty() ? model_.context.all_targets : named, step);
}

// Of a request that it learned of in some other way, or of none.
void Pipeline::register_order(const Step& step, const Surroundings& around) {
  Piece piece;
  piece.document = document_of(step, model_);
  piece.order.sequence = sequence_of(1U + step.amount % 16U);
  for (auto input = logs_.requests.rbegin(); input != logs_.requests.rend() && step.pick < 200; ++input)
    if (const auto* request = std::get_if<Request>(&input->command);
        request && request->what.id == kIds[piece.document]) {
      piece.order.sequence = request->what.sequence;
      piece.epoch = request->what.epoch;
      break;
    }
  const Epoch fallback = around.state.default_epoch;
  if (!piece.epoch && (step.pick % 4 != 0 || fallback != Epoch(0))) piece.epoch = fallback;
  piece.order.epoch = piece.epoch.value_or(Epoch(0));
  piece.op = step.flavour >= 200 ? Op::kDelete : Op::kUpsert;
  write_register(piece, explicit_targets(step, model_), step);
}

Order Pipeline::stray_order(const Step& step) const {
  if (!seen_.empty() && step.pick % 2 == 0) return seen_[step.pick / 2U % seen_.size()].order;
  return {Epoch(step.pick >= 224 ? 1 : 0), sequence_of(1U + step.amount % 16U), Revision(step.flavour >= 240 ? 1 : 0)};
}

void Pipeline::stray_result(const Step& step) {
  Piece piece;
  piece.document = document_of(step, model_);
  piece.order = stray_order(step);
  if (step.flavour % 8 != 0) piece.epoch = piece.order.epoch;
  piece.target = TargetNumber(static_cast<std::uint8_t>(step.targets % model_.targets));
  SequenceResult result = result_of(piece);
  if (step.targets >= 250) result.output_bytes = kTooManyBytes;
  logs_.write(Log::kCommands, result);
}

void Pipeline::stray_unregister(const Step& step) {
  const Order order = stray_order(step);
  Unregister command;
  command.id = kIds[document_of(step, model_)];
  if (step.flavour % 8 != 0) command.epoch = order.epoch;
  command.sequence = order.sequence;
  command.revision = order.revision;
  command.everything = step.targets >= 192;
  command.from_list = !command.everything && step.targets >= 128;
  const TargetSet named(step.targets & model_.context.all_targets.bits());
  if (!command.everything) command.targets = named.empty() ? TargetSet::of(TargetNumber(0)) : named;
  logs_.write(Log::kCommands, command);
}

// Operators see an application from outside, as a pipeline does. Small sequences are often those that there are.
static std::optional<ExpectedRequest> expected_by(const Step& step) {
  if (step.amount % 3 != 0) return std::nullopt;
  return ExpectedRequest{Epoch(0), sequence_of(1 + step.amount / 3U % 4U)};
}

void Pipeline::expire(const Step& step) {
  Expire command;
  command.dry_run = step.flavour >= 230;
  command.id = kIds[document_of(step, model_)];
  if (step.flavour % 2 == 1) command.targets = explicit_targets(step, model_).value_or(TargetSet());
  command.expected = expected_by(step);
  logs_.write(Log::kCommands, command);
}

void Pipeline::release_by_hand(const Step& step) {
  ReleaseByHand command;
  command.dry_run = step.flavour >= 230;
  command.unknown = step.amount % 2 == 1;
  command.expected = expected_by(step);
  SequenceResult& result = command.result;
  result.id = kIds[document_of(step, model_)];
  if (step.flavour % 4 != 3) result.epoch = Epoch(0);
  result.sequence = sequence_of(1 + step.pick % 8U);
  result.target = TargetNumber(static_cast<std::uint8_t>(step.targets % model_.targets));
  result.output_bytes = step.flavour % 16 == 5 ? kTooManyBytes : 100;
  logs_.write(Log::kCommands, command);
}

}  // namespace reseq::property
