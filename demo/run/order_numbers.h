// OrderNumbers: what the demo of strict and total targets did and counted, as the table on the screen and as
// report.json. Both come from here, so they cannot differ.
// Thread rule: plain values, pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demo/compare/comparison.h"
#include "demo/compare/version_order.h"
#include "demo/run/numbers.h"

namespace reseq::demo {

struct OrderNumbers {
  std::string commit;
  std::uint64_t seed = 0;
  std::uint64_t processes = 0;
  std::uint64_t changes = 0;                 // of the history
  std::uint64_t skipped = 0;                 // changes that the source could not send
  std::vector<std::string> skipped_changes;  // the first of them, and why
  double seconds = 0;
  std::uint64_t gap_timeout_ms = 0;
  OrderComparison requests;  // as they were sent, against the history
  struct Target {
    std::string name;
    std::string order;          // strict or total
    OrderComparison with{};     // its output, against the history without what was lost
    OrderComparison without{};  // the results as they came, against the same
    std::uint64_t held = 0;     // results that came before their turn
    Counts results_stopped{};
    std::uint64_t lost = 0;     // results that workers never sent
    std::uint64_t skipped = 0;  // places, each with a dead letter
  };
  std::vector<Target> targets;
  Comparison search;                  // in the end, against the commit
  std::vector<std::string> problems;  // what is not as it has to be besides
};

// Why the run is no proof; empty = every target has what it has to have and, when `require_scramble` is set, the
// pipeline did enough harm for that to mean something.
[[nodiscard]] std::vector<std::string> failures(const OrderNumbers& numbers, bool require_scramble);

[[nodiscard]] std::string table_text(const OrderNumbers& numbers);
[[nodiscard]] std::string report_json(const OrderNumbers& numbers, const std::vector<std::string>& failures);

}  // namespace reseq::demo
