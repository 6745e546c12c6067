// Numbers: what a run of the demo measured, as the table on the screen and as report.json. Both come from here, so they
// cannot differ.
// Thread rule: plain values, pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "demo/compare/comparison.h"

namespace reseq::demo {

using Counts = std::map<std::string, std::uint64_t>;  // by reason

struct TargetNumbers {
  std::string name;
  Counts results_stopped;  // drops and dead letters
  std::uint64_t released = 0;
  Comparison with;     // the sink behind the resequencer
  Comparison without;  // the same sink without it
};

struct Numbers {
  std::string commit;
  std::uint64_t seed = 0;
  std::uint64_t processes = 0;
  std::string intake = "inline";
  std::uint64_t gitlinks = 0;
  std::uint64_t requests = 0;
  std::uint64_t skipped = 0;                 // changes that the source could not send, e.g. blobs above its limit
  std::vector<std::string> skipped_changes;  // the first of them, and why
  std::uint64_t superseded_before_work = 0;
  Counts requests_stopped;        // by other reasons
  Counts results_without_target;  // stopped, and of no target that is known
  double seconds = 0;
  std::vector<std::uint64_t> worker_records;  // of each worker of the pipeline
  std::vector<TargetNumbers> targets;

  [[nodiscard]] bool tap() const { return intake == "tap"; }
  [[nodiscard]] double requests_per_second() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
};

// Why the run is no proof; empty = every sink equals the commit, every worker had work and, when `require_scramble` is
// set, the pipeline did enough harm for that to mean something.
[[nodiscard]] std::vector<std::string> failures(const Numbers& numbers, bool require_scramble);

[[nodiscard]] std::string table_text(const Numbers& numbers);
[[nodiscard]] std::string report_json(const Numbers& numbers, const std::vector<std::string>& failures);

}  // namespace reseq::demo
