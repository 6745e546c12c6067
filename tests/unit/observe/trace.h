// A pipeline's records as a test writes them, and a ledger in memory that takes them.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/hash.h"
#include "observe/ledger.h"
#include "tests/support/good.h"

namespace reseq::test {

struct Event {
  bool is_request = false;
  std::string id;
  std::uint64_t sequence = 0;
  std::int64_t at_ms = 0;
  std::uint8_t target = 0;
};

inline engine::Context context_of(std::uint8_t targets) {
  engine::Context context;
  context.intake = engine::Intake::kTap;
  context.all_targets = TargetSet((std::uint64_t{1} << targets) - 1);
  context.default_targets = context.all_targets;
  return context;
}

inline TargetTable table_of(std::uint8_t targets) {
  std::vector<std::string> names;
  for (int i = 0; i < targets; ++i) names.push_back("target-" + std::to_string(i));
  return TargetTable(names);
}

inline std::unique_ptr<observe::Ledger> new_ledger(std::uint8_t targets = 1) {
  return good(observe::Ledger::open(std::make_unique<store::PartitionStore>(), context_of(targets), table_of(targets),
                                    SequenceKind::kU64));
}

inline Command command_of(const Event& event) {
  if (event.is_request) {
    Request request;
    request.what.id = event.id;
    request.what.sequence = Sequence::of_number(event.sequence);
    return request;
  }
  SequenceResult result;
  result.id = event.id;
  result.sequence = Sequence::of_number(event.sequence);
  result.target = TargetNumber(event.target);
  return result;
}

// At once and finally, whatever was read before it.
inline void take(observe::Ledger& ledger, const Event& event) {
  const Command command = command_of(event);
  const observe::Ledger::Source source{Partition(0), Offset(0), UnixMs(event.at_ms)};
  if (event.is_request)
    ledger.request(command, source);
  else
    (void)ledger.result(command, source, true);
}

// What a reader of the output alone would count: each result against the highest before it.
struct Reference {
  std::uint64_t in_order = 0, out_of_order = 0, duplicates = 0;
  std::map<std::string, std::uint64_t> stale;
  std::uint64_t distance_max = 0;

  explicit Reference(const std::vector<Event>& events) {
    std::map<std::pair<std::string, std::uint8_t>, std::uint64_t> highest;
    for (const Event& event : events) {
      if (event.is_request) continue;
      const auto [at, is_new] = highest.try_emplace({event.id, event.target}, event.sequence);
      if (is_new || event.sequence > at->second) {
        ++in_order;
        at->second = event.sequence;
      } else if (event.sequence == at->second) {
        ++duplicates;
      } else {
        ++out_of_order;
        ++stale[event.id];
        distance_max = std::max(distance_max, at->second - event.sequence);
      }
    }
  }
};

}  // namespace reseq::test
