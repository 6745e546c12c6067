#include "tests/judge/story.h"

#include <ostream>
#include <string>

namespace reseq::judge {

namespace {

std::string_view name_of(Role role) {
  if (role == Role::kRequests) return "request";
  return role == Role::kCommands ? "command" : "control";
}

std::string named(const Order& order) {
  return std::to_string(order.epoch.value()) + '/' + std::to_string(order.sequence.number().value_or(0));
}

void tell_journal(const ReplayedBatch& batch, std::ostream& out) {
  for (const Dispatched& one : batch.dispatched)
    out << "  dispatched " << one.id << ' ' << named(one.order) << " attempt " << one.attempt << '\n';
  for (const AgendaDone& one : batch.done)
    out << "  agenda " << int{one.kind} << ": " << one.rows << " until " << one.until.value() << '\n';
  for (const Offset& one : batch.meta.gone) out << "  gone, request " << one.value() << '\n';
  for (const GivenUp& one : batch.given_up)
    out << "  given up " << one.id << ", request " << one.request.value() << ": " << name_of(one.reason) << '\n';
  for (const Offset& one : batch.meta.unreadable) out << "  unreadable, request " << one.value() << '\n';
  for (const Gone& one : batch.gone) out << "  waits no more: " << one.id << ' ' << named(one.order) << '\n';
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
  tell_journal(batch, out);
  for (const std::string& id : batch.expired) out << "  expired " << id << '\n';
}

}  // namespace reseq::judge
