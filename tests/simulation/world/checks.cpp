#include "tests/simulation/world/checks.h"

#include <string>

#include "codec/keys.h"
#include "tests/simulation/world/recorder.h"

namespace reseq::simulation {

namespace {

std::string compare(const judge::Fold& folded, const store::PartitionStore& owned) {
  if (!folded.meta() || folded.meta() != owned.meta()) return "the owner's meta row is not that of the changelog";
  if (folded.summary() != owned.summary()) return "the changelog does not fold to the state of the owner";
  if (owned.fault()) return "the owner's state has a fault: " + owned.fault()->message;
  return "";
}

// Compaction leaves holes, so meta rows on the way say more than the rows that are left: only the last one counts.
std::string fold_rest(const Log& log, judge::Fold& rest) {
  std::string wrong;
  Offset next = log.begin();
  while (const Entry* entry = log.next_committed(next)) {
    const judge::Record record = record_of(*entry);
    wrong = rest.take(record);
    if (!wrong.empty() && record.key != codec::meta_key()) return wrong;
    next = Offset(entry->offset.value() + 1);
  }
  return wrong;
}

}  // namespace

void check_owner(const runtime::Application& application, Broker& broker, const judge::Fold& whole,
                 const runtime::PartitionTask& owner, judge::Verdict& verdict) {
  const std::string where = "partition " + std::to_string(owner.partition().value()) + ": ";
  if (const auto wrong = compare(whole, owner.store()); !wrong.empty()) verdict.add(judge::Check::kFold, where + wrong);
  judge::Fold rest;
  std::string wrong = fold_rest(broker.log({application.topics.of(Role::kChangelog).value(), owner.partition()}), rest);
  if (wrong.empty()) wrong = compare(rest, owner.store());
  if (!wrong.empty()) verdict.add(judge::Check::kFold, where + "after compaction " + wrong);
}

}  // namespace reseq::simulation
