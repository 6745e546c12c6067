// OffsetTracker: which offset of one partition of `work` may be committed while its records finish in any order.
// Invariant: committable() never passes a record that was started and is not finished, so a crash loses no work; it
// never falls.
// Thread rule: one thread.
#pragma once

#include <set>

#include "model/ids.h"

namespace reseq::stage {

class OffsetTracker {
 public:
  // `next` is where reading starts.
  explicit OffsetTracker(Offset next) : position_(next) {}

  // A record was handed out. REQUIRES: offset >= every offset started or reached before.
  void start(Offset offset);

  // The reader stands at `next` (control records counted), so that markers behind the last record are committed too.
  void reached(Offset next);

  // The results of that record are acknowledged. Returns false for an offset that is not in flight.
  bool finish(Offset offset);

  // Behind every offset that was started or reached.
  [[nodiscard]] Offset position() const { return position_; }

  // The next offset to read after a restart.
  [[nodiscard]] Offset committable() const { return unfinished_.empty() ? position_ : *unfinished_.begin(); }
  [[nodiscard]] std::size_t in_flight() const { return unfinished_.size(); }

 private:
  std::set<Offset> unfinished_;
  Offset position_;
};

}  // namespace reseq::stage
