#include "demo/pipeline/paced_clock.h"

#include <algorithm>

namespace reseq::demo {

void PacedClock::advance(Duration passed, bool record) {
  if (per_record_ == Duration(0)) {
    now_ += passed;
    return;
  }
  without_record_ = record ? Duration(0) : without_record_ + passed;
  if (record) credit_ = std::min(credit_ + per_record_, kSlack);
  const Duration step = without_record_ >= longest_stall_ ? passed : std::min(passed, credit_);
  now_ += step;
  credit_ = std::max(credit_ - step, Duration(0));
}

}  // namespace reseq::demo
