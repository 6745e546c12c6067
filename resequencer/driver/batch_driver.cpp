#include "driver/batch_driver.h"

namespace reseq::driver {

BatchDriver::BatchDriver(const engine::StateView& view, const PartitionState& state, const engine::Context& context)
    : batch_(view, state, context), paused_(state.paused) {}

void BatchDriver::close(const Due& due) {
  RESEQ_ASSERT(!stopped() || (due.overdue.empty() && due.expired.empty()), "something due behind a stop");
  for (const std::string& id : due.overdue) became_overdue_ += batch_.fire_overdue(id) ? 1 : 0;
  for (const std::string& id : due.expired) batch_.expire_watermark(id);
  batch_.close();
}

}  // namespace reseq::driver
