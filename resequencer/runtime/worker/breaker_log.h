// BreakerLog: when targets could not be reached any more, and when they could again, as the partitions of a worker went
// through it since the process began. The state knows only how it is now.
// Invariants: the newest kChangesMax changes, whatever happens.
// Thread rule: plain value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/breaker.h"
#include "model/ids.h"
#include "model/target.h"

namespace reseq::runtime {

struct BreakerChange {
  Partition partition;
  std::string target;
  bool down = false;  // else it can be reached again, or an operator has said so
  UnixMs at;
  std::string error;  // of what is down: the last one until then
};

// What a batch has changed, in the order in which it came: what was closed, then what was opened.
[[nodiscard]] std::vector<BreakerChange> changes_between(const std::vector<Breaker>& before,
                                                         const std::vector<Breaker>& after, Partition partition,
                                                         const TargetTable& targets, UnixMs now);

class BreakerLog {
 public:
  static constexpr std::size_t kChangesMax = 30;

  void add(const std::vector<BreakerChange>& changes);
  // Oldest first.
  [[nodiscard]] const std::vector<BreakerChange>& changes() const { return changes_; }

 private:
  std::vector<BreakerChange> changes_;
};

}  // namespace reseq::runtime
