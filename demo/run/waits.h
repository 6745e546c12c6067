// Waits: how long requests waited for their work, and how often it ran, from what was seen on the topics and what the
// workers wrote down.
// Thread rule: plain values, pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "demo/pipeline/work_log.h"

namespace reseq::demo {

// A record of `requests` or `work`, when a reader of what is committed had it.
struct Seen {
  std::int64_t micros = 0;
  std::uint64_t request = 0;  // request_number()
  std::uint64_t sequence = 0;
};

// From the acknowledgement of a request.
struct Wait {
  std::uint64_t requests = 0;  // that got so far
  double p50_ms = 0;
  double p99_ms = 0;
};

struct Waits {
  std::uint64_t requests = 0;
  Wait readable;  // until it can be read from `work`
  Wait begun;     // until a worker begins with it
};

struct WorkCounts {
  std::uint64_t begun = 0;
  std::uint64_t again = 0;  // of them with a request that work had begun for before
};

// Of the requests whose sequence is in (after, up_to].
struct Sequences {
  std::uint64_t after = 0;
  std::uint64_t up_to = 0;
};
[[nodiscard]] Waits waits_of(Sequences which, const std::vector<Seen>& requests, const std::vector<Seen>& work,
                             const std::vector<WorkBegun>& begun);

[[nodiscard]] WorkCounts counts_of(const std::vector<WorkBegun>& begun);

}  // namespace reseq::demo
