#include "engine/batch.h"

#include "base/assert.h"
#include "engine/effects.h"
#include "engine/failures/breakers.h"
#include "engine/gate.h"
#include "engine/inputs.h"
#include "engine/journal/journal_batch.h"
#include "engine/orders/orders_batch.h"
#include "engine/overlay.h"
#include "engine/rows.h"
#include "engine/stamp.h"
#include "engine/standing.h"

namespace reseq::engine {

struct Batch::Body {
  Body(const StateView& committed, const PartitionState& before, const Context& setting)
      : view(committed), context(setting), state(before), overlay(view), rows(view), effects(setting.policies) {
    state.clock = clock_at(state.clock, context.now);
    if (!state.breakers.empty()) forget_breakers(state.breakers, context);
  }

  const StateView& view;
  const Context& context;
  PartitionState state;
  Overlay overlay;
  Rows rows;
  Effects effects;
  OrdersBatch orders{view, rows, overlay, effects, state, context};
  JournalBatch journal{view, rows, overlay, effects, state, context, orders};
  Inputs inputs{context, overlay, effects, state, journal, orders};
  std::vector<RowChange> changes;        // once it is closed
  std::vector<KeyedChange> row_changes;  // the same
  bool agenda_begun = false;
  bool closed = false;
};

Batch::Batch(const StateView& view, const PartitionState& state, const Context& context)
    : body_(std::make_unique<Body>(view, state, context)) {}

Batch::~Batch() = default;

void Batch::expect(std::size_t inputs) {
  body_->overlay.expect(inputs);
  body_->effects.expect(inputs);
}

Taken Batch::decide(const Command& command, Offset position, bool requests_read) {
  RESEQ_ASSERT(!body_->closed && !body_->agenda_begun, "an input behind the agenda");
  // Most are one of these; with so many kinds a visit calls through a table.
  Inputs& inputs = body_->inputs;
  if (const auto* request = std::get_if<Request>(&command)) return inputs.decide(*request, position, requests_read);
  if (const auto* result = std::get_if<SequenceResult>(&command))
    return inputs.decide(*result, position, requests_read);
  return std::visit([&](const auto& one) { return inputs.decide(one, position, requests_read); }, command);
}

bool Batch::fire_overdue(DocumentId id) {
  RESEQ_ASSERT(!body_->closed, "a timer for a closed batch");
  Document& document = body_->overlay.find_copied(id);
  if (!body_->overlay.mark_overdue(document, body_->context.now)) return false;
  Event& event = body_->effects.tell(kNoInput, {Outcome::kApplied, Reason::kNone, TableRow::kNone}, document.id);
  event.kind = EventKind::kOverdue;
  event.order = document.newest_order();
  event.targets = overdue_targets(*document.now.row, body_->context.now);
  return true;
}

void Batch::expire_watermark(DocumentId id) {
  RESEQ_ASSERT(!body_->closed, "a sweep for a closed batch");
  body_->overlay.expire(body_->overlay.find_copied(id), body_->context.now);
}

void Batch::take(Turn& turn) {
  RESEQ_ASSERT(!body_->closed, "a turn in a closed batch");
  body_->agenda_begun = true;
  if (is_journal_kind(turn.kind())) {
    const std::size_t before = body_->journal.done();
    body_->journal.take(turn);
    RESEQ_ASSERT(turn.rows() > 0 || body_->journal.done() == before, "a turn that did what it took no room for");
    return;
  }
  if (is_orders_kind(turn.kind())) {
    const std::size_t before = body_->orders.done();
    body_->orders.take(turn);
    RESEQ_ASSERT(turn.rows() > 0 || body_->orders.done() == before, "a turn that did what it took no room for");
    return;
  }
  RESEQ_ASSERT(body_->context.gate != nullptr, "a turn of no gate");
  GateBatch batch(body_->view, body_->rows, body_->overlay, body_->inputs.dispatch(), body_->effects, body_->context,
                  turn);
  const std::size_t before = batch.done();
  body_->context.gate->take(turn, batch);
  RESEQ_ASSERT(turn.rows() > 0 || batch.done() == before, "a turn that did what it took no room for");
}

void Batch::close() {
  RESEQ_ASSERT(!body_->closed, "a batch closed twice");
  body_->closed = true;
  body_->journal.close();
  body_->orders.close();
  body_->effects.close();
  body_->changes = body_->overlay.changes();
  body_->row_changes = body_->rows.changes();
}

std::span<const Decision> Batch::decisions() const {
  return body_->effects.decisions();
}

std::span<const Emission> Batch::emissions() const {
  RESEQ_ASSERT(body_->closed, "emissions of an open batch");
  return body_->effects.emissions();
}

std::span<const Event> Batch::events() const {
  RESEQ_ASSERT(body_->closed, "events of an open batch");
  return body_->effects.events();
}

std::span<const RowChange> Batch::changes() const {
  RESEQ_ASSERT(body_->closed, "changes of an open batch");
  return body_->changes;
}

std::span<const KeyedChange> Batch::row_changes() const {
  RESEQ_ASSERT(body_->closed, "row changes of an open batch");
  return body_->row_changes;
}

std::span<const Hold> Batch::holds() const {
  RESEQ_ASSERT(body_->closed, "what an open batch holds");
  return body_->effects.holds();
}

std::span<const LetThrough> Batch::let_through() const {
  RESEQ_ASSERT(body_->closed, "what an open batch lets through");
  return body_->effects.let_through();
}

std::span<const Offset> Batch::unreadable() const {
  RESEQ_ASSERT(body_->closed, "what an open batch puts off");
  return body_->journal.unreadable();
}

std::span<const Offset> Batch::missing() const {
  RESEQ_ASSERT(body_->closed, "what an open batch misses");
  return body_->journal.missing();
}

std::span<const LateResult> Batch::late_results() const {
  RESEQ_ASSERT(body_->closed, "late results of an open batch");
  return body_->inputs.late_results();
}

std::span<const InputIndex> Batch::older_requests() const {
  RESEQ_ASSERT(body_->closed, "older requests of an open batch");
  return body_->inputs.older_requests();
}

const PartitionState& Batch::state() const {
  RESEQ_ASSERT(body_->closed, "state of an open batch");
  return body_->state;
}

}  // namespace reseq::engine
