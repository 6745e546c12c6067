#include "engine/batch.h"

#include <algorithm>
#include <utility>

#include "engine/decide_control.h"
#include "engine/decide_register.h"
#include "engine/decide_sequence.h"
#include "engine/decide_unregister.h"
#include "engine/overlay.h"
#include "engine/stamp.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

bool tells_of(EventPolicy policy, Outcome outcome) {
  if (policy != EventPolicy::kDrops) return policy == EventPolicy::kAll;
  return outcome == Outcome::kDropped || outcome == Outcome::kDeadLettered || outcome == Outcome::kRedirected;
}

std::optional<Order> newest_known(const Document& document) {
  const Order* newest = newest_order(document.known());
  return newest != nullptr ? std::optional(*newest) : std::nullopt;
}

// Sorts their places, because an event is large. Those of timers stay last, in the order they have.
std::vector<Event> in_input_order(const std::vector<Event>& events) {
  std::vector<std::pair<InputIndex, std::size_t>> places;
  places.reserve(events.size());
  for (const Event& event : events) places.emplace_back(event.input, places.size());
  std::sort(places.begin(), places.end());
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  for (const auto& [input, place] : places) sorted.push_back(events[place]);
  return sorted;
}

Reason refusal_of_reset(const Context& context) {
  const bool unseen = context.intake == Intake::kTap && !context.requests_carry_epochs;
  return unseen ? Reason::kResetNeedsEpochs : Reason::kNone;
}

}  // namespace

struct Batch::Body {
  Body(const StateView& view, const PartitionState& before, const Context& setting)
      : context(setting), overlay(view), state(before) {
    state.clock = clock_at(state.clock, context.now);
  }

  // One overload per alternative of Command.
  Verdict decide(const Request& request, Offset position, bool requests_read);
  Verdict decide(const Register& command, Offset position, bool requests_read);
  Verdict decide(const Unregister& command, Offset position, bool requests_read);
  Verdict decide(const SequenceResult& command, Offset position, bool requests_read);
  Verdict decide(const Reset& reset, Offset position, bool requests_read);
  Verdict decide(const Expire& command, Offset position, bool requests_read);
  Verdict decide(const ReleaseByHand& command, Offset position, bool requests_read);
  Verdict decide(const RaiseFloor& command, Offset position, bool requests_read);
  Verdict decide(const Pause& command, Offset position, bool requests_read);
  Verdict decide(const Refused& refused, Offset position, bool requests_read);

  // Makes the ruling about an input of `document` happen, unless it has to wait for `requests`. A result has a target.
  Verdict settle(Document& document, const Ruling& ruling, bool requests_read,
                 std::optional<TargetNumber> target = std::nullopt);
  // The same about an operation, which is always told of, and only told of when it is a dry run.
  Verdict settle_operation(Document& document, Ruling ruling, bool dry_run, std::optional<TargetNumber> target);
  Event& tell_operation(const Decision& would_be, bool dry_run, DocumentId id);
  // Takes what a newer request moved away out of earlier forwards of this batch.
  void narrow_forwards(Document& document, const Ruling& newer);
  // Nothing is left of a forward.
  void withdraw(DocumentId id, const Emission& forward, const Order& newer);
  void send(Document& document, const Ruling& ruling, InputIndex input);
  void note_late(const Document& document, const Order& order);
  void note_older(const Document& document, Offset position);
  InputIndex number(const Decision& decision);
  Event& tell(InputIndex input, const Decision& decision, DocumentId id);

  const Context& context;
  Overlay overlay;
  PartitionState state;
  std::vector<Decision> decisions;  // by input
  std::vector<Emission> emissions;
  std::vector<Event> events;  // in input order when closed; with EventPolicy::kAll one per input at any time
  bool late_events = false;   // some were added behind those of later inputs
  std::vector<RowChange> changes;
  std::vector<LateResult> late;
  std::vector<InputIndex> older;
  bool closed = false;
};

Verdict Batch::Body::decide(const Request& request, Offset position, bool) {
  Document& document = overlay.find(request.what.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  const Ruling ruling = decide_request(request, position, document.known(), state, context);
  narrow_forwards(document, ruling);
  const Reason reason = ruling.decision.reason;
  if (reason == Reason::kSuperseded || reason == Reason::kEpochBehind) note_older(document, position);
  return settle(document, ruling, true);
}

Verdict Batch::Body::decide(const Register& command, Offset, bool requests_read) {
  Document& document = overlay.find(command.what.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  return settle(document, decide_register(command, document.known(), state, context), requests_read);
}

Verdict Batch::Body::decide(const Unregister& command, Offset, bool requests_read) {
  Document& document = overlay.find(command.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  return settle(document, decide_unregister(command, document.known(), state, context), requests_read);
}

Verdict Batch::Body::decide(const SequenceResult& command, Offset, bool requests_read) {
  Document& document = overlay.find(command.id);
  const Ruling ruling = document.now.collision ? refuse(Reason::kIdCollision)
                                               : decide_sequence(command, document.known(), state, context);
  const TableRow met = ruling.decision.table_row;
  const bool too_late = met == TableRow::kS4 || met == TableRow::kS6;
  if (too_late && ruling.decision.outcome == Outcome::kDropped) note_late(document, ruling.edit.order);
  return settle(document, ruling, requests_read, command.target);
}

Verdict Batch::Body::decide(const Reset& reset, Offset, bool) {
  const Reason refusal = refusal_of_reset(context);
  const bool applies = refusal == Reason::kNone;
  const Decision decision =
      applies ? Decision{Outcome::kApplied, Reason::kNone, TableRow::kControl} : refuse(refusal).decision;
  const InputIndex input = number(decision);
  if (applies)
    state.default_epoch = std::max(state.default_epoch, reset.default_epoch);
  else
    emissions.push_back({input, DeadLetter{refusal, std::nullopt}});
  if (context.policies.events == EventPolicy::kNone) return Verdict::kDecided;
  Event& event = tell(input, decision, {});
  if (!applies) return Verdict::kDecided;
  event.kind = EventKind::kReset;
  event.order = Order{state.default_epoch, Sequence(), Revision()};
  return Verdict::kDecided;
}

Verdict Batch::Body::decide(const Expire& command, Offset, bool) {
  Document& document = overlay.find(command.id);
  const Ruling ruling =
      document.now.collision ? refuse(Reason::kIdCollision) : decide_expire(command, document.known());
  const bool one = command.targets.size() == 1;
  return settle_operation(document, ruling, command.dry_run,
                          one ? std::optional(command.targets.first()) : std::nullopt);
}

Verdict Batch::Body::decide(const ReleaseByHand& command, Offset, bool) {
  Document& document = overlay.find(command.result.id);
  const Ruling ruling =
      document.now.collision ? refuse(Reason::kIdCollision) : decide_release(command, document.known(), state, context);
  return settle_operation(document, ruling, command.dry_run, command.result.target);
}

Verdict Batch::Body::decide(const RaiseFloor& command, Offset, bool) {
  Event& event = tell_operation(raise_floor(command, state), command.dry_run, {});
  event.target = command.target;
  event.version = command.floor;
  return Verdict::kDecided;
}

Verdict Batch::Body::decide(const Pause& command, Offset, bool) {
  tell_operation(pause(command, state), command.dry_run, {});
  return Verdict::kDecided;
}

Verdict Batch::Body::decide(const Refused& refused, Offset, bool) {
  const OnMissing policy = refused.sequence_without_id_or_seq ? context.policies.on_missing : OnMissing::kDeadLetter;
  if (policy == OnMissing::kStop) return Verdict::kStop;
  const bool redirects = policy == OnMissing::kRedirect;
  const Decision decision{redirects ? Outcome::kRedirected : Outcome::kDeadLettered, refused.reason, TableRow::kNone};
  const InputIndex input = number(decision);
  if (redirects)
    emissions.push_back({input, Redirect{refused.reason}});
  else
    emissions.push_back({input, DeadLetter{refused.reason, std::nullopt}});
  if (refused.operation)
    tell(input, decision, refused.id).kind = EventKind::kOperation;
  else if (tells_of(context.policies.events, decision.outcome))
    tell(input, decision, refused.id);
  return Verdict::kDecided;
}

Verdict Batch::Body::settle(Document& document, const Ruling& ruling, bool requests_read,
                            std::optional<TargetNumber> target) {
  if (ruling.miss && !requests_read) return Verdict::kRequestsFirst;
  const InputIndex input = number(ruling.decision);
  if (tells_of(context.policies.events, ruling.decision.outcome)) {
    Event& event = tell(input, ruling.decision, document.id);
    if (ruling.has_order) event.order = ruling.edit.order;
    event.expected = newest_known(document);
    event.target = target;
    if (ruling.edit.served) event.version = ruling.edit.version;
  }
  send(document, ruling, input);
  if (!ruling.edit.nothing()) overlay.change(document, ruling.edit, context);
  return Verdict::kDecided;
}

Event& Batch::Body::tell_operation(const Decision& would_be, bool dry_run, DocumentId id) {
  const Decision decision = dry_run ? Decision{Outcome::kDropped, Reason::kDryRun, TableRow::kControl} : would_be;
  Event& event = tell(number(decision), would_be, id);
  event.kind = EventKind::kOperation;
  event.dry_run = dry_run;
  return event;
}

Verdict Batch::Body::settle_operation(Document& document, Ruling ruling, bool dry_run,
                                      std::optional<TargetNumber> target) {
  Event& event = tell_operation(ruling.decision, dry_run, document.id);
  if (ruling.has_order) event.order = ruling.edit.order;
  event.expected = newest_known(document);
  event.target = target;
  if (dry_run) return Verdict::kDecided;
  if (ruling.edit.served) event.version = ruling.edit.version;
  send(document, ruling, event.input);
  if (!ruling.edit.nothing()) overlay.change(document, ruling.edit, context);
  return Verdict::kDecided;
}

void Batch::Body::send(Document& document, const Ruling& ruling, InputIndex input) {
  const RowEdit& edit = ruling.edit;
  switch (ruling.decision.outcome) {
    case Outcome::kForwarded:
      document.sent.push_back(static_cast<std::uint32_t>(emissions.size()));
      emissions.push_back({input, Forward{edit.order, ruling.op, edit.requested->forwarded}});
      break;
    case Outcome::kReleased:
      state.last = edit.version;
      emissions.push_back({input, Release{*edit.served, edit.order, ruling.op, edit.version}});
      break;
    case Outcome::kDeadLettered:
      emissions.push_back({input, DeadLetter{ruling.decision.reason, newest_known(document)}});
      break;
    default:
      break;
  }
}

void Batch::Body::narrow_forwards(Document& document, const Ruling& newer) {
  for (const std::uint32_t index : document.sent) {
    Emission& emission = emissions[index];
    Forward& forward = *std::get_if<Forward>(&emission.what);
    if (forward.targets.empty() || forward.order >= newer.edit.order) continue;
    forward.targets = forward.targets.without(newer.edit.moved);
    if (forward.targets.empty()) withdraw(document.id, emission, newer.edit.order);
  }
}

void Batch::Body::withdraw(DocumentId id, const Emission& forward, const Order& newer) {
  Decision& decision = decisions[forward.input.value()];
  decision.outcome = Outcome::kDropped;
  decision.reason = Reason::kSuperseded;
  const EventPolicy policy = context.policies.events;
  if (policy == EventPolicy::kNone) return;
  if (policy == EventPolicy::kDrops) {
    tell(forward.input, decision, id).order = std::get_if<Forward>(&forward.what)->order;
    late_events = true;
  }
  Event& event = policy == EventPolicy::kAll ? events[forward.input.value()] : events.back();
  RESEQ_ASSERT(event.input == forward.input, "the event of another input");
  event.decision = decision;
  event.expected = newer;
}

// Behind a barrier there may be no newer order: then the delete is what is newest.
void Batch::Body::note_late(const Document& document, const Order& order) {
  const Row& row = *document.known();
  const Order* newest = newest_order(&row);
  const Order& known = newest != nullptr && (!row.barrier || *row.barrier < *newest) ? *newest : *row.barrier;
  const bool newer_released = std::any_of(row.groups.begin(), row.groups.end(), [&](const Group& group) {
    return group.order > order && !group.served.empty();
  });
  late.push_back({order, known, newer_released ? row.last_version : Version()});
}

// Of the input that is decided next.
void Batch::Body::note_older(const Document& document, Offset position) {
  const std::optional<Requested>& requested = document.known()->requested;
  if (requested && position < requested->position) return;
  older.emplace_back(static_cast<std::uint32_t>(decisions.size()));
}

InputIndex Batch::Body::number(const Decision& decision) {
  RESEQ_ASSERT(decisions.size() < kNoInput.value(), "more inputs in a batch than can be numbered");
  decisions.push_back(decision);
  return InputIndex(static_cast<std::uint32_t>(decisions.size() - 1));
}

Event& Batch::Body::tell(InputIndex input, const Decision& decision, DocumentId id) {
  Event& event = events.emplace_back();
  event.input = input;
  event.id = id;
  event.decision = decision;
  return event;
}

Batch::Batch(const StateView& view, const PartitionState& state, const Context& context)
    : body_(std::make_unique<Body>(view, state, context)) {}

Batch::~Batch() = default;

void Batch::expect(std::size_t inputs) {
  body_->overlay.expect(inputs);
  body_->decisions.reserve(inputs);
  body_->emissions.reserve(inputs);
}

Verdict Batch::decide(const Command& command, Offset position, bool requests_read) {
  RESEQ_ASSERT(!body_->closed, "an input for a closed batch");
  return std::visit([&](const auto& one) { return body_->decide(one, position, requests_read); }, command);
}

bool Batch::fire_overdue(DocumentId id) {
  RESEQ_ASSERT(!body_->closed, "a timer for a closed batch");
  Document& document = body_->overlay.find_copied(id);
  if (!body_->overlay.mark_overdue(document, body_->context.now)) return false;
  Event& event = body_->tell(kNoInput, {Outcome::kApplied, Reason::kNone, TableRow::kNone}, document.id);
  event.kind = EventKind::kOverdue;
  event.order = newest_known(document);
  event.targets = overdue_targets(*document.now.row, body_->context.now);
  return true;
}

void Batch::expire_watermark(DocumentId id) {
  RESEQ_ASSERT(!body_->closed, "a sweep for a closed batch");
  body_->overlay.expire(body_->overlay.find_copied(id), body_->context.now);
}

void Batch::close() {
  RESEQ_ASSERT(!body_->closed, "a batch closed twice");
  body_->closed = true;
  std::vector<Emission>& emissions = body_->emissions;
  const auto withdrawn = [](const Emission& emission) {
    const Forward* forward = std::get_if<Forward>(&emission.what);
    return forward != nullptr && forward->targets.empty();
  };
  emissions.erase(std::remove_if(emissions.begin(), emissions.end(), withdrawn), emissions.end());
  if (body_->late_events) body_->events = in_input_order(body_->events);
  body_->changes = body_->overlay.changes();
}

std::span<const Decision> Batch::decisions() const {
  return body_->decisions;
}

std::span<const Emission> Batch::emissions() const {
  RESEQ_ASSERT(body_->closed, "emissions of an open batch");
  return body_->emissions;
}

std::span<const Event> Batch::events() const {
  RESEQ_ASSERT(body_->closed, "events of an open batch");
  return body_->events;
}

std::span<const RowChange> Batch::changes() const {
  RESEQ_ASSERT(body_->closed, "changes of an open batch");
  return body_->changes;
}

std::span<const LateResult> Batch::late_results() const {
  RESEQ_ASSERT(body_->closed, "late results of an open batch");
  return body_->late;
}

std::span<const InputIndex> Batch::older_requests() const {
  RESEQ_ASSERT(body_->closed, "older requests of an open batch");
  return body_->older;
}

const PartitionState& Batch::state() const {
  RESEQ_ASSERT(body_->closed, "state of an open batch");
  return body_->state;
}

}  // namespace reseq::engine
