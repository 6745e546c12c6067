#include "driver/batch_driver.h"

#include "engine/gate.h"

namespace reseq::driver {

BatchDriver::BatchDriver(const engine::StateView& view, const PartitionState& state, const engine::Context& context)
    : batch_(view, state, context), paused_(state.paused) {}

void BatchDriver::close(const Agenda& agenda) {
  const auto& [overdue, turns, expired, left, references] = agenda;
  RESEQ_ASSERT(!stopped() || (overdue.empty() && turns.empty() && expired.empty()), "something due behind a stop");
  for (const std::string& id : overdue) became_overdue_ += batch_.fire_overdue(id) ? 1 : 0;
  engine::BytesLeft unbounded;
  for (const GateTurn& one : turns) {
    engine::Turn turn(one.kind, one.until, one.rows_max, left != nullptr ? *left : unbounded, references);
    batch_.take(turn);
    if (turn.rows() > 0) agenda_done_.push_back({one.kind, one.until, turn.rows()});
    if (turn.lacks_record()) lacking_.push_back(one.kind);
  }
  for (const std::string& id : expired) batch_.expire_watermark(id);
  batch_.close();
}

}  // namespace reseq::driver
