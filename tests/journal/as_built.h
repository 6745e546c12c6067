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
  // Consolidation counts from the insertion of the newest request: a document that changes often waits on.
  [[nodiscard]] Urgency wish_of(const Input& input) const override {
    Urgency wish = JobTable::wish_of(input);
    wish.process_at = std::max(wish.process_at, UnixMs(wish.inserted.value() + rules().consolidate_ms));
    return wish;
  }
  [[nodiscard]] UnixMs due_date(const Waiting& entry) const override { return entry.urgency.process_at; }

  // Attempts are asked for only where the last one alone counts.
  [[nodiscard]] bool wants_attempt(const TargetJob& job) const override {
    return rules().last_attempt_only && JobTable::wants_attempt(job);
  }
};

}  // namespace reseq::journal
