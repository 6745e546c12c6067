#include "engine/batch.h"

#include <algorithm>
#include <utility>

#include "engine/decide_register.h"
#include "engine/decide_sequence.h"
#include "engine/decide_unregister.h"
#include "engine/overlay.h"
#include "engine/stamp.h"
#include "engine/standing.h"

namespace reseq::engine {
namespace {

// What an outcome sends beside its event, when it is not a forward or a release.
bool is_kept(Outcome outcome) {
  return outcome == Outcome::kDeadLettered || outcome == Outcome::kRedirected;
}

bool wants(EventPolicy policy, const Event& event) {
  if (policy == EventPolicy::kNone) return false;
  const Outcome outcome = event.decision.outcome;
  return policy == EventPolicy::kAll || event.kind == EventKind::kReset || outcome == Outcome::kDropped ||
         is_kept(outcome);
}

std::optional<Order> newest_known(const Document& document) {
  const Order* newest = newest_order(document.known());
  return newest != nullptr ? std::optional(*newest) : std::nullopt;
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
  Verdict decide(const Refused& refused, Offset position, bool requests_read);

  // Makes the ruling about an input of `document` happen, unless it has to wait for `requests`.
  Verdict settle(Document& document, const Ruling& ruling, bool requests_read);
  // Takes what a newer request moved away out of earlier forwards of this batch.
  void narrow_forwards(Document& document, const Ruling& newer);
  void send(Document& document, const Ruling& ruling, InputIndex input);
  InputIndex number(const Decision& decision);

  const Context& context;
  Overlay overlay;
  PartitionState state;
  std::vector<Decision> decisions;  // by input
  std::vector<Event> ledger;        // by input; decision is filled in at close
  std::vector<Emission> emissions;
  std::vector<Event> overdue;
  std::vector<RowChange> changes;
  bool closed = false;
};

Verdict Batch::Body::decide(const Request& request, Offset position, bool) {
  Document& document = overlay.find(request.what.id);
  if (document.now.collision) return settle(document, refuse(Reason::kIdCollision), true);
  const Ruling ruling = decide_request(request, position, document.known(), state, context);
  narrow_forwards(document, ruling);
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
  const Verdict verdict = settle(document, ruling, requests_read);
  if (verdict == Verdict::kDecided) ledger.back().target = command.target;
  return verdict;
}

Verdict Batch::Body::decide(const Reset& reset, Offset, bool) {
  const Reason refusal = refusal_of_reset(context);
  const bool applies = refusal == Reason::kNone;
  const InputIndex input =
      number(applies ? Decision{Outcome::kApplied, Reason::kNone, TableRow::kControl} : refuse(refusal).decision);
  if (applies) {
    state.default_epoch = std::max(state.default_epoch, reset.default_epoch);
    ledger.back().kind = EventKind::kReset;
    ledger.back().order = Order{state.default_epoch, Sequence(), Revision()};
  } else {
    emissions.push_back({input, DeadLetter{refusal, std::nullopt}});
  }
  return Verdict::kDecided;
}

Verdict Batch::Body::decide(const Refused& refused, Offset, bool) {
  const OnMissing policy = refused.sequence_without_id_or_seq ? context.policies.on_missing : OnMissing::kDeadLetter;
  if (policy == OnMissing::kStop) return Verdict::kStop;
  const bool redirects = policy == OnMissing::kRedirect;
  const InputIndex input =
      number({redirects ? Outcome::kRedirected : Outcome::kDeadLettered, refused.reason, TableRow::kNone});
  ledger.back().id = refused.id;
  if (redirects)
    emissions.push_back({input, Redirect{refused.reason}});
  else
    emissions.push_back({input, DeadLetter{refused.reason, std::nullopt}});
  return Verdict::kDecided;
}

Verdict Batch::Body::settle(Document& document, const Ruling& ruling, bool requests_read) {
  if (ruling.miss && !requests_read) return Verdict::kRequestsFirst;
  const InputIndex input = number(ruling.decision);
  Event& entry = ledger.back();
  entry.id = document.id;
  if (ruling.has_order) entry.order = ruling.edit.order;
  entry.expected = newest_known(document);
  if (ruling.edit.served) entry.version = ruling.edit.version;
  send(document, ruling, input);
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
    if (!forward.targets.empty()) continue;
    Decision& decision = decisions[emission.input.value()];
    decision.outcome = Outcome::kDropped;
    decision.reason = Reason::kSuperseded;
    ledger[emission.input.value()].expected = newer.edit.order;
  }
}

InputIndex Batch::Body::number(const Decision& decision) {
  RESEQ_ASSERT(decisions.size() < kNoInput.value(), "more inputs in a batch than can be numbered");
  decisions.push_back(decision);
  ledger.emplace_back();
  return InputIndex(static_cast<std::uint32_t>(decisions.size() - 1));
}

Batch::Batch(const StateView& view, const PartitionState& state, const Context& context)
    : body_(std::make_unique<Body>(view, state, context)) {}

Batch::~Batch() = default;

void Batch::expect(std::size_t inputs) {
  body_->overlay.expect(inputs);
  body_->decisions.reserve(inputs);
  body_->ledger.reserve(inputs);
  body_->emissions.reserve(inputs);
}

Verdict Batch::decide(const Command& command, Offset position, bool requests_read) {
  RESEQ_ASSERT(!body_->closed, "an input for a closed batch");
  return std::visit([&](const auto& one) { return body_->decide(one, position, requests_read); }, command);
}

void Batch::fire_overdue(DocumentId id) {
  RESEQ_ASSERT(!body_->closed, "a timer for a closed batch");
  Document& document = body_->overlay.find_copied(id);
  if (!body_->overlay.mark_overdue(document, body_->context.now)) return;
  Event event;
  event.kind = EventKind::kOverdue;
  event.id = document.id;
  event.decision.outcome = Outcome::kApplied;
  event.order = newest_known(document);
  body_->overdue.push_back(event);
}

void Batch::expire_watermark(DocumentId id) {
  RESEQ_ASSERT(!body_->closed, "a sweep for a closed batch");
  body_->overlay.expire(body_->overlay.find_copied(id), body_->context.now);
}

void Batch::close(EventPolicy events) {
  RESEQ_ASSERT(!body_->closed, "a batch closed twice");
  body_->closed = true;
  std::vector<Emission>& emissions = body_->emissions;
  const auto withdrawn = [](const Emission& emission) {
    const Forward* forward = std::get_if<Forward>(&emission.what);
    return forward != nullptr && forward->targets.empty();
  };
  emissions.erase(std::remove_if(emissions.begin(), emissions.end(), withdrawn), emissions.end());
  for (std::size_t i = 0; i < body_->ledger.size(); ++i) {
    Event& event = body_->ledger[i];
    event.decision = body_->decisions[i];
    if (wants(events, event)) emissions.push_back({InputIndex(static_cast<std::uint32_t>(i)), event});
  }
  for (const Event& event : body_->overdue) emissions.push_back({kNoInput, event});
  body_->changes = body_->overlay.changes();
}

std::span<const Decision> Batch::decisions() const {
  return body_->decisions;
}

std::span<const Emission> Batch::emissions() const {
  RESEQ_ASSERT(body_->closed, "emissions of an open batch");
  return body_->emissions;
}

std::span<const RowChange> Batch::changes() const {
  RESEQ_ASSERT(body_->closed, "changes of an open batch");
  return body_->changes;
}

const PartitionState& Batch::state() const {
  RESEQ_ASSERT(body_->closed, "state of an open batch");
  return body_->state;
}

}  // namespace reseq::engine
