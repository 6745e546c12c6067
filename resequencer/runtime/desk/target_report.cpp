#include "runtime/desk/target_report.h"

#include <algorithm>
#include <limits>

namespace reseq::runtime {

namespace {

void add_down(const PartitionReport& partition, std::vector<TargetReport>& all) {
  for (const TargetDown& down : partition.targets_down)
    for (TargetReport& one : all)
      if (one.target == down.target) ++one.down;
}

void add_waits(const PartitionReport& partition, std::vector<TargetReport>& all) {
  if (!partition.survey) return;
  for (TargetReport& one : all) one.surveyed = true;
  for (const WaitingForTarget& waiting : partition.targets) {
    Survey::ForTarget& sum = all[waiting.target].waits;
    sum.waiting += waiting.found.waiting;
    sum.overdue += waiting.found.overdue;
    if (waiting.found.oldest && (!sum.oldest || *waiting.found.oldest < *sum.oldest)) sum.oldest = waiting.found.oldest;
  }
}

}  // namespace

std::vector<TargetReport> target_reports(const Application& application, const std::vector<Board::Seen>& seen) {
  std::vector<TargetReport> all;
  for (std::size_t i = 0; i < application.settings.targets.size(); ++i) {
    TargetReport one;
    one.target = application.settings.targets[i].name;
    one.quiet = Milliseconds(std::numeric_limits<std::int64_t>::max());
    const std::size_t topic = application.topics.output(i).value();
    for (const Board::Seen& worker : seen) {
      const WorkerReport& now = *worker.now;
      one.released += now.totals.outputs[topic];
      one.quiet = std::min(one.quiet, Milliseconds(now.steady.value() - now.quiet_since[topic].value()));
      const std::int64_t ms = worker.before ? now.steady.value() - worker.before->steady.value() : 0;
      if (ms > 0)
        one.per_s += static_cast<double>(now.totals.outputs[topic] - worker.before->totals.outputs[topic]) * 1000 /
                     static_cast<double>(ms);
    }
    all.push_back(std::move(one));
  }
  for (const Board::Seen& worker : seen)
    for (const PartitionReport& partition : worker.now->partitions) {
      add_waits(partition, all);
      add_down(partition, all);
    }
  return all;
}

}  // namespace reseq::runtime
