// Clock: the only way time enters. A simulation brings its own.
// Thread rule: one worker.
#pragma once

#include "model/ids.h"

namespace reseq::runtime {

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall clock: stamps and timestamps of records.
  [[nodiscard]] virtual UnixMs now() const = 0;
  // Never steps; for time limits. Its zero means nothing.
  [[nodiscard]] virtual Milliseconds steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] UnixMs now() const override;
  [[nodiscard]] Milliseconds steady() const override;
};

}  // namespace reseq::runtime
