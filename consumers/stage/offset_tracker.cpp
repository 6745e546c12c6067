#include "consumers/stage/offset_tracker.h"

#include "base/assert.h"

namespace reseq::stage {

void OffsetTracker::start(Offset offset) {
  RESEQ_ASSERT(offset >= position_, "a record of `work` was read twice in one assignment");
  unfinished_.insert(unfinished_.end(), offset);
  position_ = Offset(offset.value() + 1);
}

void OffsetTracker::reached(Offset next) {
  if (next > position_) position_ = next;
}

bool OffsetTracker::finish(Offset offset) {
  return unfinished_.erase(offset) == 1;
}

}  // namespace reseq::stage
