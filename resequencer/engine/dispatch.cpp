#include "engine/dispatch.h"

#include "engine/gate.h"
#include "engine/standing.h"

namespace reseq::engine {

void Dispatch::offer(Document& document, const Request& request, Offset position, const Context& context) {
  RESEQ_ASSERT(context.gate != nullptr, "a forward offered to no gate");
  const Emission& emission = effects_.sent(document.sent.back());
  const Forward& forward = *std::get_if<Forward>(&emission.what);
  auto hold = context.gate->holds({document.id, forward, request, position, context.now}, effects_.arena());
  if (!hold) return;
  hold->bytes = request.work_bytes;
  document.sent.pop_back();
  effects_.keep(std::move(*hold));
}

bool Dispatch::let_through(Document& document, const HeldForward& leaving, const Context& context, Overlay& overlay) {
  const Forward& held = leaving.forward;
  const Standing at = standing_at(document.known(), held.order);
  const InputIndex input = effects_.let_through({leaving.key, document.id, leaving.gone, {}});
  Decision decision{Outcome::kForwarded, Reason::kNone, TableRow::kNone};
  const std::optional<Order> newest = document.newest_order();
  const TargetSet targets = held.targets & at.pending;
  if (targets.empty()) {
    decision = {Outcome::kDropped, at.group != nullptr ? Reason::kDuplicate : Reason::kSuperseded, TableRow::kNone};
  } else if (leaving.gone || leaving.work_bytes > context.work_bytes_max) {
    decision = {Outcome::kDeadLettered, leaving.gone ? Reason::kBodyGone : Reason::kTooLarge, TableRow::kNone};
    GivenUp given_up;
    if (leaving.gone) given_up.gone = leaving.record_bytes;
    effects_.send(input, DeadLetter{decision.reason, newest, effects_.kept(given_up)});
    RowEdit edit;
    edit.order = held.order;
    edit.removed = targets;
    overlay.change(document, edit, context);
  } else {
    effects_.send(input, Forward{held.order, held.op, targets});
    overlay.note_forwarded(document, held.order, targets);
  }
  const bool leaves = decision.outcome == Outcome::kForwarded;
  if (!effects_.tells_of(decision.outcome)) return leaves;
  Event& event = effects_.tell(input, decision, document.id);
  event.order = held.order;
  event.expected = newest;
  return leaves;
}

void Dispatch::narrow_sent(const Document& document, const Ruling& newer) {
  for (const std::uint32_t place : document.sent) {
    const Emission& emission = effects_.sent(place);
    Forward& forward = *std::get_if<Forward>(&effects_.sent(place).what);
    if (forward.targets.empty() || forward.order >= newer.edit.order) continue;
    forward.targets = forward.targets.without(newer.edit.moved);
    if (forward.targets.empty())
      effects_.drop_as_superseded(emission.input, document.id, forward.order, newer.edit.order);
  }
}

}  // namespace reseq::engine
