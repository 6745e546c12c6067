#include "engine/inputs.h"

#include <algorithm>

#include "engine/documents/decide_register.h"
#include "engine/documents/decide_sequence.h"
#include "engine/documents/decide_unregister.h"
#include "engine/documents/orders.h"
#include "engine/failures/decide_fail.h"
#include "engine/journal/entries.h"
#include "engine/operations/decide_control.h"
#include "engine/release.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

Reason refusal_of_reset(const Context& context) {
  const bool unseen = context.intake == Intake::kTap && !context.requests_carry_epochs;
  return unseen ? Reason::kResetNeedsEpochs : Reason::kNone;
}

// Something newer is known.
bool is_behind(Reason reason) {
  return reason == Reason::kSuperseded || reason == Reason::kEpochBehind;
}

std::optional<TargetNumber> only_target(TargetSet targets) {
  return targets.size() == 1 ? std::optional(targets.first()) : std::nullopt;
}

}  // namespace

Taken Inputs::decide(const Request& request, Offset position, bool) {
  Document& document = overlay_.find(request.what.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  const bool ordered = orders_.any();
  if (journal_.takes(document)) {
    const InputIndex input = effects_.next();
    const Taken taken = journal_.decide(document, request, position);
    if (journal_.late_for_lane() || is_behind(effects_.decided(input).reason)) note_older(document, position, input);
    return taken;
  }
  bool late = false;  // for a lane
  Ruling ruling = ordered ? decide_with_lanes(document, request, position, late)
                          : decide_request(request, position, document.known(), state_, context_);
  dispatch_.narrow(document, ruling);
  if (late || is_behind(ruling.decision.reason)) note_older(document, position, effects_.next());
  const Taken taken = settle(document, ruling, true);
  if (context_.gate != nullptr && ruling.decision.outcome == Outcome::kForwarded)
    dispatch_.offer(document, request, position, context_);
  return taken;
}

Ruling Inputs::decide_with_lanes(Document& document, const Request& request, Offset position, bool& late) {
  Ruling ruling = decide_request(request, position, document.known(), state_, context_);
  late = orders_.enter(document, request, position, document.known(), ruling);
  return ruling;
}

Taken Inputs::decide(const Register& command, Offset, bool requests_read) {
  Document& document = overlay_.find(command.what.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  if (orders_.any())
    if (const auto reason = orders_.refusal(document, command.what)) return settle(document, refuse(*reason), true);
  const auto behind = document.journaled ? journal_.behind_waiting_barrier(document, command.what) : std::nullopt;
  return settle(document, decide_register(command, behind ? &*behind : document.known(), state_, context_),
                requests_read);
}

Taken Inputs::decide(const Unregister& command, Offset, bool requests_read) {
  Document& document = overlay_.find(command.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  if (orders_.any()) return unregister_ordered(document, command, requests_read);
  return settle(document, decide_unregister(command, document.known(), state_, context_), requests_read);
}

// Ordered targets of it have a table of their own.
Taken Inputs::unregister_ordered(Document& document, const Unregister& command, bool requests_read) {
  Unregister others = command;
  others.targets = command.targets.without(context_.lanes.targets.all());
  Ruling ruling;
  if (others.everything || !others.targets.empty() || command.targets.empty()) {
    ruling = decide_unregister(others, document.known(), state_, context_);
  } else if (const auto order = command_order(command, document.known(), state_.default_epoch)) {
    set_order(ruling, *order);
  } else {
    ruling = refuse(Reason::kEpochMissing);
  }
  const TargetSet leaving = orders_.leaving(document, command, ruling);
  const Taken taken = settle(document, ruling, requests_read);
  if (taken == Taken::kDecided && !leaving.empty()) orders_.end(document, ruling.edit.order, leaving);
  return taken;
}

Taken Inputs::decide(const SequenceResult& command, Offset, bool requests_read) {
  Document& document = overlay_.find(command.id);
  if (orders_.takes(command.target) && !document.now.collision)
    return document.journaled ? decide_ordered(document, command, requests_read)
                              : orders_.decide(document, command, requests_read);
  Ruling ruling = document.now.collision ? refuse(Reason::kIdCollision)
                                         : decide_sequence(command, document.known(), state_, context_);
  if (document.journaled && (ruling.edit.served || !ruling.edit.removed.empty()))
    if (const auto reason = journal_.refusal_of_attempt(document, command, ruling.edit.order)) {
      const Order order = ruling.edit.order;
      ruling = *reason == Reason::kAttemptMissing ? refuse(*reason) : drop(TableRow::kNone, *reason);
      set_order(ruling, order);
    }
  if (!state_.breakers.empty() && ruling.edit.served)  // nearly always there is none
    journal_.note_release(document, command.target, ruling.edit.order,
                          journal_.dispatch_of(document, command, ruling.edit.order));
  const TableRow met = ruling.decision.table_row;
  const bool too_late = met == TableRow::kS4 || met == TableRow::kS6;
  if (too_late && ruling.decision.outcome == Outcome::kDropped) note_late(document, ruling.edit.order);
  return settle(document, ruling, requests_read, command.target, command.attempt);
}

// What is under way for it ends with its result, held or not.
Taken Inputs::decide_ordered(Document& document, const SequenceResult& command, bool requests_read) {
  const auto order = command_order(command, document.known(), state_.default_epoch);
  const Row* const row = document.known();
  const bool waits = order && row != nullptr && entry_in_lane(*row, *order, command.target) != nullptr;
  if (const auto reason = waits ? journal_.refusal_of_attempt(document, command, *order) : std::nullopt) {
    Ruling ruling = *reason == Reason::kAttemptMissing ? refuse(*reason) : drop(TableRow::kNone, *reason);
    set_order(ruling, *order);
    return settle(document, ruling, requests_read, command.target, command.attempt);
  }
  const std::uint64_t dispatch = waits ? journal_.dispatch_of(document, command, *order) : 0;
  const InputIndex input = effects_.next();
  const Taken taken = orders_.decide(document, command, requests_read);
  if (taken != Taken::kDecided || !waits || state_.breakers.empty()) return taken;
  const Outcome outcome = effects_.decided(input).outcome;
  if (outcome == Outcome::kReleased || outcome == Outcome::kHeld)
    journal_.note_release(document, command.target, *order, dispatch);
  return taken;
}

Taken Inputs::decide(const Heartbeat& command, Offset, bool requests_read) {
  Document& document = overlay_.find(command.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  if (document.known() == nullptr && !requests_read) return Taken::kRequestsFirst;
  const auto order = command_order(command, document.known(), state_.default_epoch);
  const Decision decision = journal_.beat(document, command, order);
  const InputIndex input = effects_.number(decision);
  if (!effects_.tells_of(decision.outcome)) return Taken::kDecided;
  Event& event = effects_.tell(input, decision, document.id);
  event.order = order;
  event.expected = document.newest_order();
  event.attempt = command.attempt;
  return Taken::kDecided;
}

Taken Inputs::decide(const Fail& command, Offset, bool requests_read) {
  Document& document = overlay_.find(command.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  if (!command.everything && orders_.takes(command.target))
    if (const auto ruling = orders_.not_under_way(document, command)) {
      const Taken taken = settle(document, *ruling, requests_read, command.target, command.attempt);
      const bool ends = taken == Taken::kDecided && ruling->decision.outcome == Outcome::kDeadLettered;
      if (ends && ruling->decision.reason == Reason::kNoRequest)
        orders_.end(document, ruling->edit.order, TargetSet::of(command.target));
      return taken;
    }
  FailRuling fail = decide_fail(command, document.known(), state_, context_);
  if (fail.ruling.miss && command.everything && orders_.knows(document, fail.ruling.edit.order)) {
    fail.ruling.decision = drop(TableRow::kF0, Reason::kStale).decision;
    fail.ruling.miss = false;
  }
  const auto target = command.everything ? std::nullopt : std::optional(command.target);
  const Taken taken = settle(document, fail.ruling, requests_read, target, command.attempt);
  if (!fail.failures.empty()) journal_.fail(document, fail);
  if (fail.untold && taken == Taken::kDecided) journal_.note_failure(document, *fail.untold);
  return taken;
}

Taken Inputs::decide(const Reset& reset, Offset, bool) {
  const Reason refusal = refusal_of_reset(context_);
  const bool applies = refusal == Reason::kNone;
  const Decision decision =
      applies ? Decision{Outcome::kApplied, Reason::kNone, TableRow::kControl} : refuse(refusal).decision;
  const InputIndex input = effects_.number(decision);
  if (applies)
    state_.default_epoch = std::max(state_.default_epoch, reset.default_epoch);
  else
    effects_.send(input, DeadLetter{refusal, std::nullopt});
  if (context_.policies.events == EventPolicy::kNone) return Taken::kDecided;
  Event& event = effects_.tell(input, decision, {});
  if (!applies) return Taken::kDecided;
  event.kind = EventKind::kReset;
  event.order = Order{state_.default_epoch, Sequence(), Revision()};
  return Taken::kDecided;
}

Taken Inputs::decide(const Expire& command, Offset, bool) {
  Document& document = overlay_.find(command.id);
  std::optional<Row> as_if;
  if (document.journaled && document.now.row) as_if = as_if_dispatched(*document.now.row, context_, false);
  const Row* seen = as_if ? &*as_if : document.known();
  const Ruling ruling = document.now.collision ? refuse(Reason::kIdCollision) : decide_expire(command, seen);
  const Taken taken = settle_operation(document, ruling, command.dry_run, seen, only_target(command.targets));
  if (!command.dry_run && !ruling.edit.removed.empty()) journal_.give_up(document, ruling.edit.removed);
  return taken;
}

Taken Inputs::decide(const DispatchByHand& command, Offset, bool) {
  Document& document = overlay_.find(command.id);
  std::optional<Row> as_if;
  if (document.journaled && document.now.row) as_if = as_if_dispatched(*document.now.row, context_, false);
  const Row* seen = as_if ? &*as_if : document.known();
  const bool moves = journal_.move(document, command, true);
  const Ruling ruling =
      document.now.collision ? refuse(Reason::kIdCollision) : decide_dispatch(command, seen, moves, context_);
  const Taken taken = settle_operation(document, ruling, command.dry_run, seen, only_target(command.targets));
  if (!command.dry_run && ruling.decision.outcome == Outcome::kApplied) journal_.move(document, command, false);
  return taken;
}

Taken Inputs::decide(const ReleaseByHand& command, Offset, bool) {
  Document& document = overlay_.find(command.result.id);
  const bool ordered = orders_.takes(command.result.target);
  const Ruling ruling = document.now.collision ? refuse(Reason::kIdCollision)
                        : ordered              ? refuse(Reason::kOrderedTarget)
                                               : decide_release(command, document.known(), state_, context_);
  return settle_operation(document, ruling, command.dry_run, document.known(), command.result.target);
}

Taken Inputs::decide(const RaiseFloor& command, Offset, bool) {
  Event& event = effects_.tell_operation(raise_floor(command, state_), command.dry_run, {});
  event.target = command.target;
  event.version = command.floor;
  return Taken::kDecided;
}

Taken Inputs::decide(const Pause& command, Offset, bool) {
  effects_.tell_operation(pause(command, state_), command.dry_run, {});
  return Taken::kDecided;
}

Taken Inputs::decide(const ResumeTarget& command, Offset, bool) {
  effects_.tell_operation(resume_target(command, state_), command.dry_run, {}).target = command.target;
  return Taken::kDecided;
}

Taken Inputs::decide(const SkipPlace& command, Offset, bool) {
  Document& document = overlay_.find(command.id);
  const Ruling ruling = document.now.collision ? refuse(Reason::kIdCollision) : orders_.decide_skip(document, command);
  const Taken taken = settle_operation(document, ruling, command.dry_run, document.known(), command.target);
  if (!command.dry_run && ruling.decision.outcome == Outcome::kApplied)
    orders_.end(document, ruling.edit.order, TargetSet::of(command.target));
  return taken;
}

Taken Inputs::decide(const Refused& refused, Offset, bool) {
  const OnMissing policy = refused.sequence_without_id_or_seq ? context_.policies.on_missing : OnMissing::kDeadLetter;
  if (policy == OnMissing::kStop) return Taken::kStop;
  const bool redirects = policy == OnMissing::kRedirect;
  const Decision decision{redirects ? Outcome::kRedirected : Outcome::kDeadLettered, refused.reason, TableRow::kNone};
  const InputIndex input = effects_.number(decision);
  if (redirects)
    effects_.send(input, Redirect{refused.reason});
  else
    effects_.send(input, DeadLetter{refused.reason, std::nullopt});
  if (refused.operation)
    effects_.tell(input, decision, refused.id).kind = EventKind::kOperation;
  else if (effects_.tells_of(decision.outcome))
    effects_.tell(input, decision, refused.id);
  return Taken::kDecided;
}

Taken Inputs::settle(Document& document, const Ruling& ruling, bool requests_read, std::optional<TargetNumber> target,
                     std::uint32_t attempt) {
  if (ruling.miss && !requests_read) return Taken::kRequestsFirst;
  const InputIndex input = effects_.number(ruling.decision);
  if (effects_.tells_of(ruling.decision.outcome)) {
    Event& event = effects_.tell(input, ruling.decision, document.id);
    if (ruling.has_order) event.order = ruling.edit.order;
    event.expected = document.newest_order();
    event.target = target;
    event.attempt = attempt;
    if (ruling.edit.served) event.version = ruling.edit.version;
    if (ruling.decision.outcome == Outcome::kUnchanged) event.targets = ruling.edit.moved;
  }
  carry_out(document, ruling, input, false);
  return Taken::kDecided;
}

Taken Inputs::settle_operation(Document& document, const Ruling& ruling, bool dry_run, const Row* seen,
                               std::optional<TargetNumber> target) {
  Event& event = effects_.tell_operation(ruling.decision, dry_run, document.id);
  if (ruling.has_order) event.order = ruling.edit.order;
  if (const Order* newest = newest_order(seen)) event.expected = *newest;
  event.target = target;
  if (dry_run) return Taken::kDecided;
  if (ruling.edit.served) event.version = ruling.edit.version;
  carry_out(document, ruling, event.input, true);
  return Taken::kDecided;
}

void Inputs::carry_out(Document& document, const Ruling& ruling, InputIndex input, bool by_operator) {
  switch (ruling.decision.outcome) {
    case Outcome::kForwarded:
      dispatch_.forward(document, ruling, input);
      break;
    case Outcome::kReleased:
      release(effects_, state_, ruling, input);
      break;
    case Outcome::kDeadLettered:
      effects_.send(input, DeadLetter{ruling.decision.reason, document.newest_order()});
      break;
    default:
      break;
  }
  if (ruling.edit.nothing()) return;
  if (document.journaled && !by_operator) return journal_.change_by_command(document, ruling.edit);
  overlay_.change(document, ruling.edit, context_);
}

// Behind a barrier there may be no newer order: then the delete is what is newest.
void Inputs::note_late(const Document& document, const Order& order) {
  const Row& row = *document.known();
  const Order* newest = newest_order(&row);
  const Order& known = newest != nullptr && (!row.barrier || *row.barrier < *newest) ? *newest : *row.barrier;
  const bool newer_released = std::any_of(row.groups.begin(), row.groups.end(), [&](const Group& group) {
    return group.order > order && !group.served.empty();
  });
  late_.push_back({order, known, newer_released ? row.last_version : Version()});
}

void Inputs::note_older(const Document& document, Offset position, InputIndex input) {
  const std::optional<Requested>& requested = document.known()->requested;
  if (requested && position < requested->position) return;
  older_.push_back(input);
}

}  // namespace reseq::engine
