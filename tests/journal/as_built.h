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

  // What a command registered or ended takes nothing from an entry before its dispatch would come.
  [[nodiscard]] bool narrows(const Waiting& entry) const override { return entry.attempt > 0; }

  // What goes with an entry that expires is everything older that is not under way, if its order was dispatched: also
  // what a command registered there, which the entry never took over.
  [[nodiscard]] TargetSet goes_with(const DocumentJob& document, const Waiting& entry,
                                    TargetSet targets) const override {
    TargetSet found = JobTable::goes_with(document, entry, targets);
    for (const auto& [target, job] : document.targets) {
      if (job.state != TargetState::kPending || job.newest >= entry.order || !targets.contains(target)) continue;
      bool under_way = false;
      for (const UnderWay& each : document.under_way) under_way = under_way || each.targets.contains(target);
      if (!under_way && document.dispatched.contains(job.newest)) found |= TargetSet::of(target);
    }
    return found;
  }

  // An entry has numbers of its own: two dispatches of one order may have the same.
  [[nodiscard]] std::uint32_t next_attempt(const DocumentJob&, const Waiting& entry) const override {
    return entry.attempt + 1;
  }
};

}  // namespace reseq::journal
