#include "tests/simulation/world/story.h"

#include <ostream>

namespace reseq::simulation {

namespace {

constexpr std::size_t kShown = 30;  // bytes of a key or payload

void tell(const Decided& decided, std::ostream& out) {
  const Decision& decision = decided.decision;
  out << (decided.role == Role::kRequests   ? "  request "
          : decided.role == Role::kCommands ? "  command "
                                            : "  control ")
      << decided.record->key.value_or("(null)").substr(0, kShown) << " -> " << name_of(decision.outcome) << ' '
      << name_of(decision.reason) << ' ' << name_of(decision.table_row) << " written "
      << decided.record->timestamp.value() << ':';
  for (const StoredHeader& header : decided.record->headers)
    out << ' ' << header.name << '=' << header.value.value_or("(null)").substr(0, kShown);
  out << " payload=" << decided.record->payload.value_or("(null)").substr(0, kShown) << '\n';
}

}  // namespace

void tell(const Replay& replay, std::ostream& out) {
  for (const ReplayedBatch& batch : replay.batches()) {
    out << "batch at " << batch.meta.now.value() << '\n';
    for (const Decided& decided : batch.inputs) tell(decided, out);
    for (const Released& one : batch.releases)
      out << "  released " << one.id << " for " << one.target << ' ' << one.epoch << '/' << one.sequence << '/'
          << one.revision << '\n';
    for (const Fired& one : batch.fired) out << "  overdue " << one.id << " since " << one.deadline.value() << '\n';
    for (const std::string& id : batch.expired) out << "  expired " << id << '\n';
  }
}

}  // namespace reseq::simulation
