// JournalNumbers: what the demo of the journal measured with it and without it, as the table on the screen and as
// report.json. Both come from here, so they cannot differ.
// Thread rule: plain values, pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demo/compare/comparison.h"
#include "demo/run/waits.h"

namespace reseq::demo {

// One of the two runs.
struct DispatchNumbers {
  std::string dispatch;  // journal or immediate
  std::uint64_t skipped = 0;
  std::uint64_t superseded_before_work = 0;
  double seconds = 0;
  Waits live;
  Waits backfill;
  std::uint64_t killed = 0;       // processes of the pipeline
  std::uint64_t stood_still = 0;  // the same
  std::uint64_t given_back = 0;   // documents, by their leases
  WorkCounts work;
  struct Target {
    std::string name;
    Comparison with;
  };
  std::vector<Target> targets;
};

struct JournalNumbers {
  std::string commit;
  DispatchNumbers journal;
  DispatchNumbers immediate;
};

// Why the run is no proof; empty = all is right in both runs, and leases gave documents back.
[[nodiscard]] std::vector<std::string> failures(const JournalNumbers& numbers);

[[nodiscard]] std::string table_text(const JournalNumbers& numbers);
[[nodiscard]] std::string report_json(const JournalNumbers& numbers, const std::vector<std::string>& failures);

}  // namespace reseq::demo
