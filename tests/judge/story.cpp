#include "tests/judge/story.h"

#include <ostream>

namespace reseq::judge {

namespace {

std::string_view name_of(Role role) {
  if (role == Role::kRequests) return "request";
  return role == Role::kCommands ? "command" : "control";
}

}  // namespace

void tell(Partition partition, const ReplayedBatch& batch, std::ostream& out) {
  out << "partition " << partition.value() << " batch at " << batch.meta.now.value()
      << (batch.birth ? ", its birth\n" : "\n");
  for (const Decided& decided : batch.inputs)
    out << "  " << name_of(decided.role) << " -> " << name_of(decided.decision.outcome) << ' '
        << name_of(decided.decision.reason) << ' ' << name_of(decided.decision.table_row) << ": "
        << describe(decided.record) << '\n';
  for (const Released& one : batch.releases)
    out << "  released " << one.id << " for " << one.target << ' ' << one.epoch << '/' << one.sequence << '/'
        << one.revision << '\n';
  for (const Fired& one : batch.fired) out << "  overdue " << one.id << " since " << one.deadline.value() << '\n';
  for (const std::string& id : batch.expired) out << "  expired " << id << '\n';
}

}  // namespace reseq::judge
