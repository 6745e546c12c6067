// AsBuilt: the job table with the rules in which the engine differs from it today. Each is to be settled: then it goes
// from here, or from there.
// Thread rule: one thread.
#pragma once

#include <algorithm>

#include "tests/journal/job_table.h"

namespace reseq::journal {

class AsBuilt : public JobTable {
 public:
  using JobTable::JobTable;

 protected:
  // Attempts are asked for only where the last one alone counts.
  [[nodiscard]] bool wants_attempt(std::uint32_t last) const override {
    return rules().last_attempt_only && JobTable::wants_attempt(last);
  }

  // Entries alone have attempts: what a newer one took over from an order that came back may be answered by any.
  [[nodiscard]] std::uint32_t last_attempt(const DocumentJob& document, TargetNumber target) const override {
    const OrderNumber order = document.targets.at(target).newest;
    std::uint32_t last = 1;
    for (const Waiting& each : document.waiting)
      if (each.order == order && each.targets.contains(target)) last = std::max(last, each.attempt);
    for (const UnderWay& each : document.under_way)
      if (each.order == order && each.targets.contains(target)) last = std::max(last, each.attempt);
    return last;
  }

  // Entries alone have attempts: an order whose entries have ended, or were taken over, begins at 1 again.
  [[nodiscard]] std::uint32_t next_attempt(const DocumentJob& document, const Waiting& entry) const override {
    std::uint32_t last = entry.attempt;
    for (const Waiting& each : document.waiting)
      if (each.order == entry.order) last = std::max(last, each.attempt);
    for (const UnderWay& each : document.under_way)
      if (each.order == entry.order) last = std::max(last, each.attempt);
    return last + 1;
  }

  // What a command registered or ended takes nothing from an entry before its dispatch would come.
  [[nodiscard]] bool narrows(const Waiting& entry) const override { return entry.attempt > 0; }
};

}  // namespace reseq::journal
