#include "runtime/desk/queue_report.h"

#include <algorithm>

namespace reseq::runtime {

namespace {

QueueReport& of_priority(std::uint8_t priority, std::vector<QueueReport>& all) {
  const auto is_before = [](const QueueReport& one, std::uint8_t other) { return one.priority < other; };
  const auto at = std::lower_bound(all.begin(), all.end(), priority, is_before);
  return at != all.end() && at->priority == priority ? *at : *all.insert(at, {priority, 0, 0, std::nullopt});
}

void add(const PartitionReport& partition, std::vector<QueueReport>& all) {
  for (const PriorityCount& one : partition.priorities) {
    QueueReport& sum = of_priority(one.priority, all);
    sum.waiting += one.waiting;
    sum.processing += one.processing;
  }
  if (!partition.survey) return;
  for (const Survey::Due& due : partition.survey->due) {
    QueueReport& sum = of_priority(due.priority, all);
    sum.due_since = std::min(sum.due_since.value_or(due.since), due.since);
  }
}

}  // namespace

std::vector<QueueReport> queue_report(const PartitionReport& partition) {
  std::vector<QueueReport> all;
  add(partition, all);
  return all;
}

std::vector<QueueReport> queue_report(const std::vector<const PartitionReport*>& partitions, std::uint8_t always) {
  std::vector<QueueReport> all = {{always, 0, 0, std::nullopt}};
  for (const PartitionReport* partition : partitions) add(*partition, all);
  return all;
}

}  // namespace reseq::runtime
