// Parking: whether one partition waits for a person, why, and how the log says so: at once, and again and again.
//
// Invariant: a partition that is parked stays so until its task ends, by a restart or with the assignment.
// Thread rule: one worker.
#pragma once

#include <optional>
#include <string>

#include "model/ids.h"
#include "runtime/application/clock.h"
#include "runtime/takeover/standstill.h"

namespace reseq::runtime {

class Parking {
 public:
  // REQUIRES: the clock outlives it.
  Parking(const Clock& clock, Partition partition) : clock_(clock), partition_(partition) {}

  void park(Parked why, std::string detail);
  // Parks it because this process must not have it: its configuration does not fit the state. The process has to end,
  // so that one with the right configuration gets it.
  void refuse(Parked why, const std::string& reason);
  // Whoever looks at the log hours later finds the reason in its last minutes. REQUIRES: parked().
  void remind();

  [[nodiscard]] bool parked() const { return why_.has_value(); }
  [[nodiscard]] Parked why() const { return *why_; }  // REQUIRES: parked()
  [[nodiscard]] const std::string& detail() const { return detail_; }
  [[nodiscard]] const std::optional<std::string>& refused() const { return refused_; }

 private:
  void log();

  const Clock& clock_;
  Partition partition_;
  std::optional<Parked> why_;
  std::string detail_;
  std::optional<std::string> refused_;
  Milliseconds since_;
  Milliseconds logged_at_;
};

}  // namespace reseq::runtime
