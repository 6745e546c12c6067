// Health: may this process be given up (/livez), and does it do its work (/readyz)?
//
//   live    every worker has gone on within `stuck_after`: it has begun a step, or a slow disk has done something for
//           it; one that has not hangs, and the process ends itself about then
//   ready   the brokers know every worker, the group has given it partitions (or none), each of which is worked on, and
//           the clock is believed
//
// Thread rule: pure functions of what workers have published.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

struct Health {
  bool good = true;
  std::string lines;  // one per worker and partition: "ok" or "no", what, and what it waits for
};

[[nodiscard]] Health liveness(const std::vector<Board::Seen>& seen, Milliseconds steady, Milliseconds stuck_after);
// `workers`: how many there are to be. `brokers_away`: since when no broker answers; none: they do.
[[nodiscard]] Health readiness(const std::vector<Board::Seen>& seen, std::size_t workers,
                               std::optional<UnixMs> brokers_away = {});

}  // namespace reseq::runtime
